// The lock of a GPU, with made-up keys: between two processes, after a crash, and with files of others.
#include "tuner/measuring/device_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/common/error.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace gnntune::tuner {
namespace {

namespace fs = std::filesystem;

class DeviceLockTest : public testing::Test {
protected:
    void TearDown() override {
        if (child_ > 0) end_child(SIGKILL);
    }

    static DeviceLock::Options impatient() {
        DeviceLock::Options options;
        options.wait = false;
        return options;
    }
    std::optional<DeviceLock> take(const DeviceLock::Options& options, const std::string& key = "GPU-1") const {
        return DeviceLock::take(key, {folder_}, options);
    }
    fs::path file() const { return folder_ / "gnntune-GPU-1.lock"; }

    /// Another process that takes the lock and holds it until it is ended.
    void hold_in_child() {
        int ready[2];
        ASSERT_EQ(pipe(ready), 0);
        child_ = fork();
        ASSERT_GE(child_, 0);
        if (child_ == 0) {
            DeviceLock::Options options;
            options.command = "gnntune tune a.mtx";
            const auto lock = take(options);
            if (write(ready[1], "x", 1) != 1) _exit(1);
            for (;;) pause();
        }
        char c = 0;
        ASSERT_EQ(read(ready[0], &c, 1), 1);
        close(ready[0]);
        close(ready[1]);
    }
    void end_child(int signal) {
        kill(child_, signal);
        waitpid(child_, nullptr, 0);
        child_ = -1;
    }

    test::TemporaryFolder temporary_;
    const fs::path folder_ = temporary_.path();
    pid_t child_ = -1;
};

TEST_F(DeviceLockTest, IsHeldByOneUntilItIsGivenBack) {
    auto lock = take(impatient());
    ASSERT_TRUE(lock);
    EXPECT_EQ(lock->path(), file());
    EXPECT_THROW(take(impatient()), Error) << "another file description is another holder";
    EXPECT_TRUE(take(impatient(), "GPU-2")) << "another GPU has another lock";

    DeviceLock moved = std::move(*lock);
    lock.reset();
    EXPECT_THROW(take(impatient()), Error) << "it moved and is still held";
    { const DeviceLock gone = std::move(moved); }
    EXPECT_TRUE(take(impatient()));
}

TEST_F(DeviceLockTest, AChildThatWasForkedMeanwhileDoesNotKeepIt) {
    auto lock = take(impatient());
    child_ = fork();
    if (child_ == 0) {
        pause();
        _exit(0);
    }
    lock.reset();
    EXPECT_TRUE(take(impatient()));
    end_child(SIGKILL);
}

TEST_F(DeviceLockTest, SaysWhichOtherProcessHoldsItSinceWhen) {
    hold_in_child();

    try {
        take(impatient());
        FAIL() << "the lock was given twice";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::no_device);
        const std::string text = e.what();
        EXPECT_NE(text.find("process " + std::to_string(child_) + " (gnntune tune a.mtx), since 20"), std::string::npos)
            << text;
        EXPECT_NE(text.find(file().string()), std::string::npos) << text;
    }
}

TEST_F(DeviceLockTest, WaitsAndTellsOnce) {
    hold_in_child();
    DeviceLock::Options options;
    options.poll = std::chrono::milliseconds(1);
    int asked = 0;
    options.stop = [&] {
        if (++asked == 5) kill(child_, SIGKILL);  // it has been met five times, and gives the lock back
        return false;
    };
    std::vector<DeviceLock::Holder> told;
    options.waiting = [&told](const DeviceLock::Holder& holder) { told.push_back(holder); };

    EXPECT_TRUE(take(options));

    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].pid, child_);
    EXPECT_EQ(told[0].command, "gnntune tune a.mtx");
    end_child(SIGKILL);
}

TEST_F(DeviceLockTest, StopEndsTheWaiting) {
    hold_in_child();
    DeviceLock::Options options;
    options.poll = std::chrono::milliseconds(1);
    int asked = 0;
    options.stop = [&asked] { return ++asked == 3; };

    EXPECT_FALSE(take(options));
    EXPECT_EQ(asked, 3);
}

TEST_F(DeviceLockTest, ACrashGivesItBack) {
    hold_in_child();
    EXPECT_THROW(take(impatient()), Error);

    end_child(SIGKILL);

    EXPECT_TRUE(take(impatient()));
}

TEST_F(DeviceLockTest, AFileThatMayOnlyBeReadIsLockedAllTheSame) {
    std::ofstream(file()) << "1\n2026-11-21T09:30:00Z\nsomebody else\n";
    ASSERT_EQ(chmod(file().c_str(), 0444), 0);
    auto lock = take(impatient());
    ASSERT_TRUE(lock);

    EXPECT_THROW(take(impatient()), Error);
    lock.reset();
    EXPECT_TRUE(take(impatient()));
}

TEST_F(DeviceLockTest, NewFilesAreForAllUsers) {
    const mode_t before = umask(077);
    const auto lock = take(impatient());
    umask(before);
    struct stat status {};
    ASSERT_EQ(stat(file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666u);
}

TEST_F(DeviceLockTest, LinksAndPipesAreNotFollowed) {
    std::ofstream(folder_ / "precious") << "content";
    const auto content = [this] {
        std::ostringstream text;
        text << std::ifstream(folder_ / "precious").rdbuf();
        return text.str();
    };
    const auto refused = [this] {
        try {
            take(impatient());
            return std::string("taken");
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::runtime);
            return std::string(e.what());
        }
    };
    fs::create_symlink(folder_ / "precious", file());
    EXPECT_NE(refused().find(file().string()), std::string::npos);
    fs::remove(file());
    fs::create_hard_link(folder_ / "precious", file());
    EXPECT_NE(refused().find("another name"), std::string::npos);
    fs::remove(file());
    ASSERT_EQ(mkfifo(file().c_str(), 0666), 0);
    EXPECT_NE(refused().find("no regular file"), std::string::npos);
    fs::remove(file());
    fs::create_directory(file());
    EXPECT_NE(refused(), "taken");
    EXPECT_EQ(content(), "content");
}

TEST_F(DeviceLockTest, TheNextFolderIsTakenWhereOneCannotBeUsed) {
    const auto lock = DeviceLock::take("GPU-1", {folder_ / "missing", folder_}, impatient());

    ASSERT_TRUE(lock);
    EXPECT_EQ(lock->path(), file());
    EXPECT_THROW(DeviceLock::take("GPU-1", {folder_ / "missing"}, impatient()), Error);
}

TEST_F(DeviceLockTest, AFileThatWasTakenAwayAndMadeAgainIsOneLock) {
    const auto first = take(impatient());
    fs::remove(file());
    const auto second = take(impatient());

    ASSERT_TRUE(second);
    EXPECT_THROW(take(impatient()), Error) << "the file that has the name now is locked";
}

TEST_F(DeviceLockTest, WhatAFileSaysIsNotBelievedBlindly) {
    EXPECT_EQ(DeviceLock::describe({}), "another process");
    EXPECT_EQ(DeviceLock::describe({7, "", ""}), "process 7");
    const auto lock = take(impatient());
    for (const char* text : {"", "nonsense", "-1\nx\ny\n", "999999999\nsince\ncommand\n"}) {
        std::ofstream(file(), std::ios::trunc) << text;
        try {
            take(impatient());
            FAIL();
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("by another process"), std::string::npos) << e.what();
        }
    }
    std::ofstream(file(), std::ios::trunc) << getpid() << "\nnow\n\x1b[31mred\n";
    try {
        take(impatient());
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).find('\x1b'), std::string::npos);
    }
}

TEST_F(DeviceLockTest, OneFolderForAllUsersComesFirst) {
    const auto folders = [](const char* own, const char* runtime) {
        own ? setenv("GNNTUNE_LOCK_DIR", own, 1) : unsetenv("GNNTUNE_LOCK_DIR");
        runtime ? setenv("XDG_RUNTIME_DIR", runtime, 1) : unsetenv("XDG_RUNTIME_DIR");
        return DeviceLock::default_folders();
    };
    EXPECT_EQ(folders(nullptr, nullptr), std::vector<fs::path>{"/tmp"});
    EXPECT_EQ(folders(nullptr, "/run/user/7"), (std::vector<fs::path>{"/tmp", "/run/user/7"}));
    EXPECT_EQ(folders("/locks", "/run/user/7"), std::vector<fs::path>{"/locks"});
    folders(nullptr, nullptr);
}

}  // namespace
}  // namespace gnntune::tuner
