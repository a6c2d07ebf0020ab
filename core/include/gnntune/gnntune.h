/* gnntune.h: the C interface of libgnntune, which runs the sparse operations of graph neural networks with the kernel
 * that was measured fastest for the graph at hand.
 *
 *   gnntune_open              names a database of measurements (written by `gnntune tune`)
 *   gnntune_graph_create_csr  describes a graph (or _coo)
 *   gnntune_plan_create       names an operation on it; picks a config and builds what that needs
 *   gnntune_run               enqueues the operation, as often as wanted
 *   gnntune_close             lets go
 *
 * gnntune_tiled_graph_create and what follows it do the same for graphs of more than 2^31 edges, or past the device's
 * memory.
 *
 * examples/spmm.c is a whole program. docs/dispatcher.md explains where choices come from.
 *
 * Conventions:
 *
 * (1) Handles are opaque pointers that a create function makes and a destroy function ends. Destroying NULL does
 *     nothing. A handle keeps alive what it was made from, so handles may be destroyed in any order.
 *
 * (2) Functions that can fail return a gnntune_status, GNNTUNE_OK being 0. gnntune_last_error() then has one sentence:
 *     what was expected, where, and what to do. Results are written through the last parameter, and only on success;
 *     a handle is set to NULL on failure.
 *
 * (3) Structs. Start from the initialiser, then fill in what you need; what is marked as required has no default:
 *         gnntune_problem problem = GNNTUNE_PROBLEM_INIT;
 *     or, where there are no macros, gnntune_problem_init(&problem, sizeof problem). Both set struct_size, the first
 *     field of every struct, to its sizeof. Zero is zero in every number; "not said" is -1 or has a name. Fields that
 *     join later stand at the end, and zero there means what the library did without them: so a program compiled against
 *     an older header passes a smaller struct and is understood. A struct smaller than in the first header is refused,
 *     and so is a larger one than the library knows, unless the unknown part is zero.
 *
 * (4) Enumerations are int32_t. Flags are int32_t: zero is no, everything else is yes.
 *
 * (5) Memory. The library allocates while opening, creating a graph and planning, never while running. Arrays are
 *     borrowed unless the function says that it copies. "Backend memory" is host memory for a context on the cpu
 *     backend, and memory of the context's device for cuda. OpenMP's runtime makes threads where a calling thread first
 *     has work for several, and again where their number changes; libgomp ends the process if it gets no memory for them.
 *     So what they take is asked for before, and without it the call ends in OUT_OF_MEMORY, be it gnntune_run; only what
 *     others take between the two can still end the process. One thread (OMP_NUM_THREADS=1) needs none of it.
 *
 * (6) Matrices are row-major without padding. Elements are aligned to their size; the workspace to 256 bytes.
 *
 * (7) A graph is a matrix A of n_rows targets by n_cols sources; the entry (i, j) is the edge j -> i. Entries may stand
 *     more than once (they add up) and in any order; rows may be empty.
 *
 * (8) Threads. A context may be used by any number of threads at once, and so may a graph and a plan. A handle must not
 *     be destroyed while another call uses it. Each function says where more is needed. A thread is not cancelled
 *     (pthread_cancel) while it is inside a function.
 *
 * (9) CUDA. No function needs a certain device to be current, and each leaves the caller's device current. Work is
 *     enqueued on the stream that is passed; NULL is the legacy default stream. The cpu backend ignores streams and has
 *     finished when a function returns.
 *
 * (10) fork. A child may use what its parent made on the cpu backend, and make its own. Every call there computes on the
 *      calling thread alone, since OpenMP's threads do not come along; a program that is executed anew has them all. No
 *      thread of the parent may be inside a function when it forks. CUDA does not survive a fork: in a child, handles of
 *      the cuda backend are of no use.
 *
 * (11) No exception leaves the library. It reads the environment variables GNNTUNE_DB, XDG_DATA_HOME, HOME,
 *      GNNTUNE_PROFILES, GNNTUNE_FORCE, GNNTUNE_SOURCES, GNNTUNE_TUNE_BUDGET and GNNTUNE_VERBOSE, in gnntune_open only;
 *      GNNTUNE_LOCK_DIR and XDG_RUNTIME_DIR where GNNTUNE_TUNE_ON_MISS measures on a GPU; and with the cuda backend
 *      CUDA_HOME and CUDA_PATH, where it looks for libraries of CUDA, each at its first use, and NVIDIA_TF32_OVERRIDE,
 *      which makes cuBLAS less exact, when it plans. OpenMP and the CUDA libraries read variables of their own.
 *      With GNNTUNE_VERBOSE=dispatch every plan of the context prints one line on stderr (docs/dispatcher.md has its
 *      fields); otherwise the library prints nothing.
 */
#ifndef GNNTUNE_GNNTUNE_H
#define GNNTUNE_GNNTUNE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GNNTUNE_API __attribute__((visibility("default")))
#else
#define GNNTUNE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header. */
#define GNNTUNE_VERSION_MAJOR 0
#define GNNTUNE_VERSION_MINOR 1
#define GNNTUNE_VERSION_PATCH 0

typedef struct gnntune_context gnntune_context;
typedef struct gnntune_graph gnntune_graph;
typedef struct gnntune_plan gnntune_plan;
typedef struct gnntune_tiled_graph gnntune_tiled_graph;
typedef struct gnntune_tiled_plan gnntune_tiled_plan;

/* A cudaStream_t, declared so that no CUDA header is needed. */
typedef struct CUstream_st* gnntune_stream;

typedef int32_t gnntune_status;
enum {
    GNNTUNE_OK = 0,
    GNNTUNE_INVALID_ARGUMENT = 1, /* the caller broke something that this header demands */
    GNNTUNE_INVALID_GRAPH = 2,    /* the arrays are no graph: an id out of range, offsets that fall, ... */
    GNNTUNE_NO_DEVICE = 3,        /* no such processor here, or no permission to use it */
    GNNTUNE_DATABASE = 4,         /* the database was demanded and is missing or cannot be read */
    GNNTUNE_UNSUPPORTED = 5,      /* a legal request that this build, or every variant in it, refuses */
    GNNTUNE_RUNTIME = 6,          /* a call of CUDA or of one of its libraries failed */
    GNNTUNE_OUT_OF_MEMORY = 7,    /* host or device memory ran out */
    GNNTUNE_INTERNAL = 8          /* a fault of the library */
};

typedef int32_t gnntune_backend;
enum {
    GNNTUNE_BACKEND_AUTO = 0, /* cuda if a device is usable, else cpu */
    GNNTUNE_BACKEND_CPU = 1,
    GNNTUNE_BACKEND_CUDA = 2
};

/* Where arrays lie. Required: a wrong guess would be a crash. */
typedef int32_t gnntune_memory;
enum { GNNTUNE_HOST = 1, GNNTUNE_DEVICE = 2 };

/* Type of an array of ids or offsets. */
typedef int32_t gnntune_index;
enum { GNNTUNE_INT32 = 0, GNNTUNE_INT64 = 1 };

typedef int32_t gnntune_op;
enum {
    GNNTUNE_SPMM = 1,  /* y[i, h, :] = sum over edges e = (j -> i) of edge_weight[e, h] * x[j, h, :], plus
                        * self_weight[i, h] * x[i, h, :] with self_loop; or their mean; or their maximum, whose heads
                        * share edge_weight[e] */
    GNNTUNE_SDDMM = 2, /* y[e, h] = <x_row[i, h, :], x[j, h, :]> for every edge e = (j -> i), times edge_weight[e] if
                        * weighted and scale; then through activation */
    GNNTUNE_SPMM_GRAD = 3,    /* gradients of spmm: grad_x, grad_edge_weight if weighted, grad_self_weight */
    GNNTUNE_EDGE_SOFTMAX = 4, /* y[e, h] = softmax of edge_weight[e, h] over the edges of each target */
    GNNTUNE_GAT = 5,          /* y[i, h, :] = sum of a[e, h] * x[j, h, :], a = softmax over the edges of i of
                               * leaky_relu(score_row[i, h] + score_col[j, h]), with dropout */
    GNNTUNE_GAT_GRAD = 6,     /* gradients of gat: grad_x, grad_score_row, grad_score_col */
    GNNTUNE_AGNN = 7,         /* as gat with the logits beta[h] * cos(x_row[i, h, :], x[j, h, :]), without dropout */
    GNNTUNE_AGNN_GRAD = 8,    /* gradients of agnn: grad_x, grad_x_row, grad_beta */
    GNNTUNE_GCN_NORM = 9,     /* y[e] = edge_weight[e] / sqrt(d[i] d[j]), y_self[i] = 1 / d[i], where d[i] = 1 + the sum
                               * of the weights of the edges of i; square graphs, weights >= 0 */
    GNNTUNE_COO_TO_CSR = 10,  /* the graph as CSR: out_ptr, out_idx, out_edge_id */
    GNNTUNE_CSR_TO_CSC = 11,  /* the graph as CSC: out_ptr, out_idx, out_edge_id */
    GNNTUNE_ATTENTION = 12,   /* dot-product attention over the edges, as in graph transformers: as gat with the logits
                               * scale * <x_row[i, h, :], key[j, h, :]>: x_row are the queries, x the values */
    GNNTUNE_ATTENTION_GRAD = 13 /* gradients of attention: grad_x, grad_x_row, grad_key */
};

/* Storage type of every floating-point array of a run, weights among them. Sums are formed in fp32 or better and rounded
 * once, unless max_error allows less; results beyond 65504 are infinite in f16. */
typedef int32_t gnntune_dtype;
enum { GNNTUNE_F32 = 0, GNNTUNE_F16 = 1, GNNTUNE_BF16 = 2 };

/* Of spmm and its gradient. 0 for a target without edges. MEAN divides the sum by the number of its terms: the edges of
 * the row, and one more with self_loop; weights are not in the divisor. MAX is taken of each feature by itself, of the
 * products rounded to fp32; a NaN is larger than everything, and of equals the edge that stands first in the graph's
 * order wins. It takes no self_loop. */
typedef int32_t gnntune_reduce;
enum { GNNTUNE_SUM = 0, GNNTUNE_MEAN = 1, GNNTUNE_MAX = 2 };

/* REVERSED computes with A transposed: what the backward pass of spmm needs. */
typedef int32_t gnntune_direction;
enum { GNNTUNE_FORWARD = 0, GNNTUNE_REVERSED = 1 };

/* Which of the tuner's timings to go by: inputs as the run before left them in cache, caches flushed before each run,
 * or replay in a CUDA graph. */
typedef int32_t gnntune_policy;
enum { GNNTUNE_HOT = 0, GNNTUNE_COLD = 1, GNNTUNE_GRAPH = 2 };

/* What sddmm makes of an edge's product, its weight and scale included, before y is rounded to its storage type. A
 * number of a run, not of the problem: one plan runs them all. */
typedef int32_t gnntune_activation;
enum {
    /* Zero is none of them, so that operands that were only zeroed, scale among them, are refused. */
    GNNTUNE_NO_ACTIVATION = 1,
    GNNTUNE_LEAKY_RELU = 2, /* v for v > 0, else negative_slope * v */
    GNNTUNE_EXP = 3
};

/* Where a config comes from that GNNTUNE_FORCE does not name. */
typedef int32_t gnntune_sources;
enum {
    GNNTUNE_SOURCES_DEFAULT = 0, /* $GNNTUNE_SOURCES (db_then_model, db_only, tune_on_miss), else DB_THEN_MODEL */
    GNNTUNE_DB_THEN_MODEL = 1,   /* measurements of the database; without, its cost model; else the default */
    GNNTUNE_DB_ONLY = 2,         /* measurements of the database, else the default: predicts nothing */
    GNNTUNE_TUNE_ON_MISS = 3     /* where the database has none, gnntune_plan_create measures; else as DB_THEN_MODEL */
};

/* Where the ids of a tiled graph lie. AUTO is RESIDENT where they and their formats are within backend_limit_bytes and
 * the ids take at most half of the device memory that is free, else STREAMED; RESIDENT on the cpu backend. */
typedef int32_t gnntune_tile_place;
enum { GNNTUNE_TILES_AUTO = 0, GNNTUNE_TILES_RESIDENT = 1, GNNTUNE_TILES_STREAMED = 2 };

/* Of a number of bytes that is not limited. */
#define GNNTUNE_NO_LIMIT UINT64_MAX

/* ---- Version and errors. Thread-safe. ---- */

/* 10000 major + 100 minor + patch of the library that is loaded. */
GNNTUNE_API uint32_t gnntune_version(void);

/* "GNNTUNE_DATABASE" for GNNTUNE_DATABASE, and so on; "unknown status" for other values. Never NULL, never freed. */
GNNTUNE_API const char* gnntune_status_string(gnntune_status status);

/* The sentence of the calling thread's last failed call; "" before the first. A successful call leaves it as it is.
 * Never NULL; valid until the thread's next failed call. */
GNNTUNE_API const char* gnntune_last_error(void);

/* ---- Open and close. ---- */

/* The application's allocator, in place of malloc (cpu) or cudaMalloc (cuda), for what graphs and plans keep in backend
 * memory: copied arrays, formats, buffers of plans, and what building those needs meanwhile. Small tables that a config
 * keeps on the host are no part of it. gnntune_run calls neither.
 *   alloc  at least `bytes` > 0 bytes of backend memory at a multiple of `alignment`, a power of two up to 256, usable on
 *          every stream from now on; NULL if there is none: the call ends in OUT_OF_MEMORY or with another config, and
 *          everything stays usable. For cuda the context's device is current.
 *   free   gets what alloc returned, with the same bytes. No work of the library uses it any more if the caller has
 *          waited as gnntune_plan_destroy and gnntune_graph_release_formats ask.
 *   user   allocator_user of the options.
 * gnntune_open_options.memory_in_stream_order asks less of both.
 * Both are called by any thread that calls the library, at once by several, until the last graph and plan of the context
 * have been destroyed. They must not throw, must not call the library, and must not wait for a thread that is inside it:
 * who takes an interpreter's lock in them must not hold it around calls of the library. */
typedef void* (*gnntune_alloc_function)(size_t bytes, size_t alignment, void* user);
typedef void (*gnntune_free_function)(void* memory, size_t bytes, void* user);

typedef struct gnntune_open_options {
    size_t struct_size;
    gnntune_backend backend;
    int32_t device; /* CUDA device ordinal; -1, the default = the calling thread's current one; ignored by cpu */
    gnntune_sources sources;
    int32_t require_database; /* a database that is missing or unreadable, its errata too, is an error */
    /* Of TUNE_ON_MISS: time for a plan, at least 1; -1, the default = $GNNTUNE_TUNE_BUDGET (200ms, 2s), else 200 ms. */
    int64_t tune_budget_us;
    /* Bytes that formats of all graphs of the context together may hold, what building one needs meanwhile included. A
     * format that would exceed it is not built: the plan gives way to the next config, and gnntune_plan_explain says so.
     * What the caller handed in and its copies do not count. GNNTUNE_NO_LIMIT by default. */
    uint64_t format_limit_bytes;
    gnntune_alloc_function alloc; /* NULL, the default = the library's own; set with free or not at all */
    gnntune_free_function free;
    void* allocator_user;
    /* For cuda: alloc and free keep the order of streams, as a caching allocator does. What alloc returns is for the
     * stream of the call that asks, and work that is enqueued there later; what free gets is handed out again only to
     * such work, or after that stream was waited for. Transient graphs are then planned without waiting for the stream:
     * see gnntune_plan_create. A flag of 64 bits, so that nothing is left empty behind it; 0 by default; needs alloc. The
     * cpu backend has no streams, and ignores it. */
    int64_t memory_in_stream_order;
} gnntune_open_options;

#define GNNTUNE_OPEN_OPTIONS_INIT                                                                                 \
    {                                                                                                             \
        sizeof(gnntune_open_options), GNNTUNE_BACKEND_AUTO, -1, GNNTUNE_SOURCES_DEFAULT, 0, -1, GNNTUNE_NO_LIMIT, \
            NULL, NULL, NULL, 0                                                                                   \
    }

/* What the macro does, for languages without it, as the other functions of this name: fills in the defaults, those of
 * fields that this library does not know being zero, and struct_size = `size`, the caller's sizeof. Error:
 * INVALID_ARGUMENT for NULL, and for a size that the struct never had. */
GNNTUNE_API gnntune_status gnntune_open_options_init(gnntune_open_options* options, size_t size);

/* Opens a context: one processor, and what is known about it.
 *   db_path  database file; NULL = $GNNTUNE_DB, else $XDG_DATA_HOME/gnntune/user.db, else
 *            ~/.local/share/gnntune/user.db. Which graphs it has, and its models, are read here; the rows of a problem
 *            on a graph when that is first planned in the context, and kept. The file is not held open in between. Graphs
 *            that are tuned later are seen by the next gnntune_open. If the file is missing or cannot be read, here or
 *            later, defaults are used and gnntune_context_describe and gnntune_plan_explain say so, unless
 *            options->require_database, which is about here.
 *   options  NULL for the defaults: any backend, the current device.
 * Errors: NO_DEVICE if the backend or the device asked for is not there, DATABASE, INVALID_ARGUMENT (also for a
 * GNNTUNE_FORCE whose variant this build does not have, or whose params have names that the variant does not have, and
 * for words that GNNTUNE_SOURCES or GNNTUNE_TUNE_BUDGET do not have). Whether the params' values are legal depends on
 * the problem: gnntune_plan_create says UNSUPPORTED where they are not, and so it does for a variant of another backend.
 * Not safe beside setenv in another thread. */
GNNTUNE_API gnntune_status gnntune_open(const char* db_path, const gnntune_open_options* options,
                                        gnntune_context** out);

/* Ends the caller's hold on the context. Graphs and plans made from it stay usable. */
GNNTUNE_API void gnntune_close(gnntune_context* context);

/* GNNTUNE_BACKEND_CPU or GNNTUNE_BACKEND_CUDA: where x, y and workspaces must lie. AUTO (0) for NULL. */
GNNTUNE_API gnntune_backend gnntune_context_backend(const gnntune_context* context);

/* The CUDA device's ordinal, as gnntune_open found it; -1 for the cpu backend and for NULL. */
GNNTUNE_API int32_t gnntune_context_device(const gnntune_context* context);

/* Text for people: version, device, the database and what was found in it. Writes at most `size` bytes, the ending zero
 * included, and returns the length of the whole text without it, as snprintf does. buffer may be NULL if size is 0.
 * 0 for a NULL context. */
GNNTUNE_API size_t gnntune_context_describe(const gnntune_context* context, char* buffer, size_t size);

/* ---- Describe a graph. ---- */

typedef struct gnntune_csr {
    size_t struct_size;
    gnntune_memory memory;     /* required: where row_ptr and col_idx lie */
    gnntune_index offset_type; /* of row_ptr */
    gnntune_index id_type;     /* of col_idx */
    int32_t trusted;           /* skips the check of the arrays: wrong ones then end in wrong answers or a crash */
    int32_t transient;         /* planned by its shape; see below */
    int32_t longest_row;       /* edges of the longest row, for a transient graph; -1, the default = to be found */
    int64_t n_rows;            /* at most 2^31 - 2, as n_cols; m 2^31 - 1 */
    int64_t n_cols;
    int64_t m;           /* number of edges */
    const void* row_ptr; /* [n_rows + 1] not falling, from 0 to m */
    const void* col_idx; /* [m] each in [0, n_cols); may be NULL if m is 0 */
} gnntune_csr;

#define GNNTUNE_CSR_INIT \
    { sizeof(gnntune_csr), 0, GNNTUNE_INT32, GNNTUNE_INT32, 0, 0, -1, 0, 0, 0, NULL, NULL }
GNNTUNE_API gnntune_status gnntune_csr_init(gnntune_csr* csr, size_t size);

typedef struct gnntune_coo {
    size_t struct_size;
    gnntune_memory memory; /* required: where row_idx and col_idx lie */
    gnntune_index id_type; /* of both arrays */
    int32_t trusted;       /* as in gnntune_csr */
    int32_t transient;     /* as in gnntune_csr */
    int64_t n_rows;
    int64_t n_cols;
    int64_t m;
    const void* row_idx; /* [m] targets, each in [0, n_rows), in any order; may be NULL if m is 0 */
    const void* col_idx; /* [m] sources, each in [0, n_cols) */
} gnntune_coo;

#define GNNTUNE_COO_INIT \
    { sizeof(gnntune_coo), 0, GNNTUNE_INT32, 0, 0, 0, 0, 0, NULL, NULL }
GNNTUNE_API gnntune_status gnntune_coo_init(gnntune_coo* coo, size_t size);

/* A transient graph is one that is used for a step or two, such as a sampled mini-batch. Its plans need no fingerprint and
 * do not ask the database: the first graph of its bucket is planned by the cost model or the default, and all others of
 * the context take the same config for the same problem, if it can run there. A bucket is the binary orders of magnitude
 * of n_rows, n_cols, m and, for CSR, the longest row. Where longest_row does not say it, that is one pass over row_ptr,
 * which is copied from a GPU first. A wrong one costs speed, not answers; one that cannot be is refused.
 *
 * Under gnntune_open_options.memory_in_stream_order, a transient graph of trusted int32 arrays in device memory is
 * planned in stream order: gnntune_plan_create enqueues what it builds and returns. Nothing of the graph is read on the
 * host, so the longest row is not looked for and the cost model is not asked; configs that need no such reading go
 * first. The first plan's stream must live as long as the graph and its plans. */

/* Describes a graph. The order of the edges in these arrays is the order of edge_weight and of sddmm's y.
 *
 * int32 arrays in backend memory are borrowed: they must stay valid and unchanged until the graph and every plan on it
 * have been destroyed. Everything else is copied, and may go when the function returns: int64 arrays, narrowed to int32
 * once, and host arrays for a cuda context, copied to the device once. Device arrays for a cpu context are refused.
 *
 * stream: work on it that writes the arrays is waited for. The function synchronises, so it cannot be captured; with
 * trusted int32 arrays in backend memory it neither reads nor waits.
 * Errors: INVALID_GRAPH names the first broken rule and its place; UNSUPPORTED for sizes or ids over int32;
 * OUT_OF_MEMORY. */
GNNTUNE_API gnntune_status gnntune_graph_create_csr(gnntune_context* context, const gnntune_csr* csr,
                                                    gnntune_stream stream, gnntune_graph** out);
GNNTUNE_API gnntune_status gnntune_graph_create_coo(gnntune_context* context, const gnntune_coo* coo,
                                                    gnntune_stream stream, gnntune_graph** out);
GNNTUNE_API void gnntune_graph_destroy(gnntune_graph* graph);

/* Identity of the graph's structure, under which databases file it: 32 hexadecimal digits and a zero. The same for CSR
 * and COO, for every order of the edges and for every backend. Computed at first need (a pass over the arrays), then
 * kept. Synchronises. */
GNNTUNE_API gnntune_status gnntune_graph_fingerprint(gnntune_graph* graph, gnntune_stream stream, char out[33]);

/* Forgets the formats that plans have built for the graph. Plans keep those they use; memory of the others is freed,
 * and a later plan builds anew. Wait first for runs of plans that were destroyed. */
GNNTUNE_API gnntune_status gnntune_graph_release_formats(gnntune_graph* graph);

/* Bytes that formats of the graph hold now in backend memory, those among them that were released and that plans still
 * use. Not the caller's arrays, nor copies of them. 0 for NULL. Thread-safe. */
GNNTUNE_API size_t gnntune_graph_format_bytes(const gnntune_graph* graph);

/* ---- Plan. ---- */

typedef struct gnntune_problem {
    size_t struct_size;
    gnntune_op op; /* required */
    int32_t k;     /* required: feature dimension, >= 1 */
    /* At least 1, the default; k * heads at most 2^28. Heads of spmm and its gradient that share their weights are one of
     * k * heads features, in texts and databases too. */
    int32_t heads;
    gnntune_dtype dtype;
    gnntune_reduce reduce;
    gnntune_direction direction;
    int32_t weighted; /* edge_weight takes part */
    /* spmm and its gradient: every vertex is its own neighbour too, with self_weight; square graph. */
    int32_t self_loop;

    /* What the answer must obey. Asking for more narrows the choice; nothing has to be tuned again. */
    int32_t deterministic;  /* bit for bit the same at every run */
    int32_t allow_sampling; /* configs that leave out edges by design may be chosen, within max_error */
    gnntune_policy policy;
    /* Bytes to which the arrays of every run are aligned, a power of two; 16 by default. Configs that need more are not
     * chosen. The size of an element is always needed. */
    int32_t operand_alignment;
    /* Largest error, relative to the sum of |terms|, that a config of reduced precision may have shown on this graph; 0,
     * the default = fp32 arithmetic only. */
    double max_error;
    double expected_calls; /* runs over which the cost of building formats is spread, above 0; by default 1000 */
    uint64_t workspace_limit_bytes; /* 0 = no workspace; GNNTUNE_NO_LIMIT by default */
    /* NULL, the default = chosen as gnntune_plan_create says. Else the text of the config to run, such as
     * "spmm.es_bucket{S=32}", as an application has it that knows what its model bears; params left out have their
     * defaults. max_error and allow_sampling do not count then: who names a config takes what it computes. The other
     * demands and errata do. Read during the call only. */
    const char* config;
} gnntune_problem;

#define GNNTUNE_PROBLEM_INIT                                                                                         \
    {                                                                                                                \
        sizeof(gnntune_problem), 0, 0, 1, GNNTUNE_F32, GNNTUNE_SUM, GNNTUNE_FORWARD, 0, 0, 0, 0, GNNTUNE_HOT, 16, 0, \
            1000, GNNTUNE_NO_LIMIT, NULL                                                                             \
    }
GNNTUNE_API gnntune_status gnntune_problem_init(gnntune_problem* problem, size_t size);

/* Chooses a config and builds what it needs on the graph: formats are built once per graph and shared by its plans.
 * Order of sources: the measurements of this graph, problem and policy in the database; then its cost model of the op
 * and policy, where that expects to gain over the default (it needs the graph's features: a few passes over the arrays,
 * once a graph); then the op's default config. Model and default choose exact configs in fp32 only: the error of others
 * on this graph was not measured. gnntune_sources leaves the model out, or has a miss measured:
 *
 * GNNTUNE_TUNE_ON_MISS: where no database has rows of this graph, problem and policy on this device, exact configs in
 * fp32 are checked against a reference and timed, the likeliest first, until nothing promises a gain or the budget is
 * spent. The rows answer this plan and later ones of the context, and are written to its database, with the choice, as
 * `gnntune tune` does; if they cannot be, gnntune_plan_explain says why. The budget does not bound fingerprint, features
 * and CSR of the graph, waiting for another plan that measures, the check or burst of calls that is under way when it
 * ends, and writing. Transient graphs, and those whose check alone would take longer, are not measured. Operands and
 * formats come from `alloc`, under format_limit_bytes; where memory runs out or nothing is measured, the plan is made as
 * for GNNTUNE_DB_THEN_MODEL. No stream of the process may be under capture meanwhile. docs/dispatcher.md has the rest.
 * GNNTUNE_FORCE, a config's text such as "spmm.cpu_rows{tile=64,row_block=16}", overrules all for the op it computes,
 * constraints included: for debugging. Params that it leaves out have their defaults for the problem and graph.
 *
 * problem->config names one config in the place of all this, but for GNNTUNE_FORCE. UNSUPPORTED where that cannot run
 * here or does not obey the problem's demands, INVALID_ARGUMENT where it is of another operation or there is none such.
 *
 * stream: work on it that writes the graph's arrays is waited for, and building is enqueued on it: give a stream of its
 * own, and a thread of its own, to build beside other work. Allocates and synchronises, so it cannot be called while
 * the stream is being captured. When it returns the plan may run on any stream.
 * Of a graph that is planned in stream order (above) it waits only where the config that is left reads the graph on the
 * host, and where another plan of the graph was made on another stream. The plan may run on `stream` at once; its first
 * run on another stream waits, on the host, for what was built. Destroying it, or the graph, wants no wait for runs on
 * `stream`, since memory keeps that order.
 * Errors: UNSUPPORTED lists why no variant can do the problem under these constraints; OUT_OF_MEMORY. */
GNNTUNE_API gnntune_status gnntune_plan_create(gnntune_context* context, gnntune_graph* graph,
                                               const gnntune_problem* problem, gnntune_stream stream,
                                               gnntune_plan** out);

/* Wait first for runs of the plan that are still on a stream; see gnntune_plan_create for the exception. */
GNNTUNE_API void gnntune_plan_destroy(gnntune_plan* plan);

/* Bytes of workspace that each run needs; 0 for many configs, and for NULL. */
GNNTUNE_API size_t gnntune_plan_workspace_bytes(const gnntune_plan* plan);

/* Us of wall time that building took what the plan needs: its own data, and its formats as when they were first built for
 * the graph, whoever asked for them. 0 for NULL. */
GNNTUNE_API double gnntune_plan_prepare_us(const gnntune_plan* plan);

/* Bytes of the formats that the plan uses and shares with the graph's other plans. 0 for NULL. */
GNNTUNE_API size_t gnntune_plan_format_bytes(const gnntune_plan* plan);

/* Bytes of backend memory that the plan holds beside them. 0 for many configs, and for NULL. */
GNNTUNE_API size_t gnntune_plan_own_bytes(const gnntune_plan* plan);

/* Canonical text of the chosen config, as the database and GNNTUNE_FORCE know it. Lives as long as the plan. "" for
 * NULL. */
GNNTUNE_API const char* gnntune_plan_config(const gnntune_plan* plan);

/* Where the config comes from: "database", "tuned", "model", "default", "named" (problem.config) or "forced"
 * (GNNTUNE_FORCE). "" for NULL. Never freed. */
GNNTUNE_API const char* gnntune_plan_source(const gnntune_plan* plan);

/* Lines for people: the config, its source, when and on what it was measured or what the model expects of it, the
 * runner-up and its distance, what was tied, what was rejected and why, and why the model was not followed. Buffer
 * and result as in gnntune_context_describe. The wording may change. */
GNNTUNE_API size_t gnntune_plan_explain(const gnntune_plan* plan, char* buffer, size_t size);

/* ---- Run. ---- */

/* Arrays and numbers of one run. Arrays lie in backend memory, elements are of the problem's dtype (int32 for out_* and
 * argmax, float for lse and lse_saved). n_rows and n_cols are those of the direction: exchanged for GNNTUNE_REVERSED; h
 * stands for heads.
 *
 *   spmm          x [n_cols, h, k]                               y [n_rows, h, k]; for MAX argmax [n_rows, h, k]
 *   sddmm         x, x_row [n_rows, h, k]                        y [m, h]
 *   spmm_grad     x, grad_y [n_rows, h, k]                       grad_x [n_cols, h, k], grad_edge_weight if weighted,
 *                 for MAX argmax_saved                           grad_self_weight with self_loop
 *   edge_softmax  edge_weight [m, h], the logits                 y [m, h]
 *   gat           x, score_row [n_rows, h], score_col [n_cols, h]  y [n_rows, h, k], lse [n_rows, h]
 *   gat_grad      those of gat, grad_y, y_saved, lse_saved       grad_x, grad_score_row, grad_score_col
 *   agnn          x, x_row, beta [h]                             y, lse
 *   agnn_grad     those of agnn, grad_y, y_saved, lse_saved      grad_x, grad_x_row, grad_beta
 *   attention     x, x_row, key [n_cols, h, k]                   y, lse
 *   attention_grad  those of attention, grad_y, y_saved, lse_saved  grad_x, grad_x_row, grad_key
 *   gcn_norm      nothing but weights, not negative              y [m], y_self [n_rows]
 *   coo_to_csr    nothing                                        out_ptr [n_rows + 1], out_idx [m], out_edge_id [m]
 *   csr_to_csc    nothing                                        out_ptr [n_cols + 1], out_idx [m], out_edge_id [m]
 *
 * Besides: edge_weight exactly if the problem is weighted (but for edge_softmax, which always has it), self_weight with
 * self_loop. edge_weight is [m], one for all heads, and self_weight [n_rows]; but sums and means of spmm and spmm_grad
 * that are weighted have weights for each head, edge_weight [m, h] and self_weight [n_rows, h]. Gradients of weights have
 * the weights' shapes. What has values per edge is in the order of the graph's edges. y_saved and lse_saved are y and
 * lse of the forward run, whose numbers have to be the same. lse, the log of the softmax's sum, and argmax may be NULL
 * where no gradient follows. argmax has the edge, as its place in the graph's order, whose product an element of y is,
 * or -1; argmax_saved is that of the forward run. Arrays of no elements may be NULL; arrays that the operation does not
 * have must be, and seed_offset where it has no dropout. An activation is refused where the operation has none; of the
 * other numbers, negative_slope, dropout, seed and scale, those that the operation does not have are passed over, but
 * have to be finite. Results and workspace are overwritten: a run whose results or workspace share memory, in whole or
 * in part, with each other, with an input or with the graph's arrays is refused. Inputs may share theirs. */
typedef struct gnntune_operands {
    size_t struct_size;
    /* Read. */
    const void* x;
    const void* x_row;
    const void* key;
    const void* edge_weight;
    const void* self_weight;
    const void* score_row;
    const void* score_col;
    const void* beta;
    const void* grad_y;
    const void* y_saved;
    const void* lse_saved;
    const void* argmax_saved;
    /* Written. */
    void* y;
    void* lse;
    void* argmax;
    void* y_self;
    void* grad_x;
    void* grad_x_row;
    void* grad_key;
    void* grad_edge_weight;
    void* grad_self_weight;
    void* grad_score_row;
    void* grad_score_col;
    void* grad_beta;
    void* out_ptr;
    void* out_idx;
    void* out_edge_id;
    /* Numbers. */
    gnntune_activation activation; /* sddmm alone; NO_ACTIVATION by default */
    /* Attention: factor of the logits, for which 1 / sqrt(k) is usual; sddmm: of the products. 1 by default, for both. */
    float scale;
    float negative_slope; /* of leaky ReLUs, gat's and sddmm's; 0.2 by default */
    float dropout;        /* gat, attention: probability of dropping an edge after the softmax, 0 <= dropout < 1; those
                           * that are kept weigh 1 / (1 - dropout) times as much */
    uint64_t seed;        /* gat, attention: of the dropout. One seed, one mask: the same for every config, forward and
                           * backward. See also seed_offset */
    /* gat, attention: NULL, or one number in backend memory, aligned to 8 bytes, that is added to seed modulo 2^64. It is
     * read when the run executes, not when it is enqueued: a run that was captured in a CUDA graph repeats the mask of its
     * seed at every replay, and draws a new one if the number has changed between them (on the stream, say, by a kernel
     * that counts replays). Borrowed until the run has ended, and unchanged so long; the gradient needs the content that
     * the forward run had. Not read where dropout is 0. */
    const uint64_t* seed_offset;
} gnntune_operands;

#define GNNTUNE_OPERANDS_INIT                                                                                         \
    {                                                                                                                 \
        sizeof(gnntune_operands), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, GNNTUNE_NO_ACTIVATION, 1,   \
            0.2F, 0, 0, NULL                                                                                          \
    }
GNNTUNE_API gnntune_status gnntune_operands_init(gnntune_operands* operands, size_t size);

/* Elements that an array of the plan's runs has, named as in gnntune_operands ("x"): what the caller can check, and the
 * library, which sees an address, cannot. Optional arrays too. -1 for an array that the operation does not have, and for
 * NULL. */
GNNTUNE_API int64_t gnntune_plan_array_elements(const gnntune_plan* plan, const char* name);

/* Enqueues one run on the stream: no allocation, no synchronisation (but see gnntune_plan_create for graphs that are
 * planned in stream order), no reading of device data by the host. It may be
 * captured in a CUDA graph; a replay reads and writes the same arrays, with the numbers of the capture; what seed_offset
 * points at is read anew.
 *   workspace  gnntune_plan_workspace_bytes() bytes of backend memory, aligned to 256 bytes, that nothing else uses
 *              until the run has ended on its stream; NULL if that is 0. Its content does not matter.
 * Any number of threads may run one plan at once, on any streams, each run with its own y and workspace; but runs of a
 * plan whose config has preprocess=1 (cuSPARSE alone) must not overlap on the device: a plan for each stream there.
 * Errors: INVALID_ARGUMENT for arrays that are missing, not aligned or share memory, and a workspace that is too small or
 * not aligned, before anything is enqueued; RUNTIME if a launch failed. Errors that kernels meet later show up where the
 * caller synchronises. */
GNNTUNE_API gnntune_status gnntune_run(const gnntune_plan* plan, const gnntune_operands* operands, void* workspace,
                                       size_t workspace_bytes, gnntune_stream stream);

/* ---- Scores of GAT, which no graph is needed for. ---- */

/* A layer of GAT has two vectors for each head, att_row and att_col [heads, k], and features x [n, heads, k], mapped
 * already. The scores that gat takes are products with them, of both in one pass over x:
 *     score_row[i, h] = <x[i, h, :], att_row[h, :]>     score_col[i, h] = <x[i, h, :], att_col[h, :]>
 * score_row and score_col are [n, heads]. Arrays lie in backend memory; elements are of `dtype` and aligned to their size.
 * n < 2^31, heads k < 2^31. Sums are formed in fp32 and rounded once; calls that are alike, alignments among it, give the
 * same bits.
 * Enqueues on the stream as gnntune_run does: no allocation, no synchronisation, may be captured. Results must not share
 * memory with anything else of the call.
 * Errors: INVALID_ARGUMENT for sizes, a dtype and arrays that are not as said; RUNTIME if a launch failed. */
GNNTUNE_API gnntune_status gnntune_head_scores(const gnntune_context* context, int64_t n, int32_t heads, int32_t k,
                                               gnntune_dtype dtype, const void* x, const void* att_row,
                                               const void* att_col, void* score_row, void* score_col,
                                               gnntune_stream stream);

/* Their gradients, from those of the scores [n, heads], which gat_grad gives:
 *     grad_x[i, h, :] += grad_score_row[i, h] att_row[h, :] + grad_score_col[i, h] att_col[h, :]
 *     grad_att_row[h, :] = sum over i of grad_score_row[i, h] x[i, h, :]     grad_att_col likewise
 * so that grad_x, which gat_grad has written, is complete. What is NULL of grad_x, grad_att_row and grad_att_col is not
 * computed.
 *   workspace  gnntune_head_scores_workspace_bytes() bytes of backend memory, aligned to 256 bytes, as in gnntune_run
 * Otherwise as gnntune_head_scores. */
GNNTUNE_API gnntune_status gnntune_head_scores_grad(const gnntune_context* context, int64_t n, int32_t heads, int32_t k,
                                                    gnntune_dtype dtype, const void* x, const void* att_row,
                                                    const void* att_col, const void* grad_score_row,
                                                    const void* grad_score_col, void* grad_x, void* grad_att_row,
                                                    void* grad_att_col, void* workspace, size_t workspace_bytes,
                                                    gnntune_stream stream);

/* 0 for sizes that are refused. */
GNNTUNE_API size_t gnntune_head_scores_workspace_bytes(int64_t n, int32_t heads, int32_t k);

/* ---- The bias of a layer, which no graph is needed for either. ---- */

/* y[i, :] = x[i, :] + bias, with x and y [n, k] and bias [k]. y may be x, and must not share memory with anything else of
 * the call. Arrays lie in backend memory; elements are of
 * `dtype` and aligned to their size. n < 2^31, k < 2^31.
 * Enqueues on the stream as gnntune_run does: no allocation, no synchronisation, may be captured.
 * Errors: INVALID_ARGUMENT for sizes, a dtype and arrays that are not as said; RUNTIME if a launch failed. */
GNNTUNE_API gnntune_status gnntune_bias_add(const gnntune_context* context, int64_t n, int32_t k, gnntune_dtype dtype,
                                            const void* x, const void* bias, void* y, gnntune_stream stream);

/* Its gradient by the bias: grad_bias [k] = sum over i of grad_y[i, :]. Sums are formed in fp32 and rounded once; calls
 * that are alike, alignments among it, give the same bits. grad_bias must not share memory with anything else of the call.
 *   workspace  gnntune_bias_grad_workspace_bytes() bytes of backend memory, aligned to 256 bytes, as in gnntune_run; NULL if
 *              that is 0
 * Otherwise as gnntune_bias_add. */
GNNTUNE_API gnntune_status gnntune_bias_grad(const gnntune_context* context, int64_t n, int32_t k, gnntune_dtype dtype,
                                             const void* grad_y, void* grad_bias, void* workspace,
                                             size_t workspace_bytes, gnntune_stream stream);

/* 0 for few rows, and for sizes that are refused. */
GNNTUNE_API size_t gnntune_bias_grad_workspace_bytes(int64_t n, int32_t k);

/* ---- A list of edges, before a graph is described by it. ---- */

/* A copy of m edges as int32, and behind them a self loop of each of the first `loops` vertices, as attention wants them:
 *     edges[0, :] = sources[0] ... sources[m - 1], 0 ... loops - 1
 *     edges[1, :] = targets[0] ... targets[m - 1], 0 ... loops - 1
 * edges is [2, m + loops]: a gnntune_coo of it has col_idx = edges, row_idx = edges + m + loops and m + loops edges. One of
 * the m edges alone has the same two arrays, and m. Arrays lie in backend memory, aligned to their elements; m + loops < 2^31.
 *   id_type    of sources and targets, which must fit int32: nothing is checked
 *   has_loops  in host memory, may be NULL: becomes 1 if one of the m edges is a self loop, else 0. Then the function waits
 *              for the stream, and cannot be captured. NULL: it enqueues as gnntune_run does
 * edges must not share memory with sources and targets.
 * Errors: INVALID_ARGUMENT for sizes, an id_type, arrays and captures that are not as said; OUT_OF_MEMORY, with has_loops;
 * RUNTIME if a launch failed. */
GNNTUNE_API gnntune_status gnntune_edge_list(gnntune_context* context, int64_t m, gnntune_index id_type,
                                             const void* sources, const void* targets, int64_t loops, int32_t* edges,
                                             int32_t* has_loops, gnntune_stream stream);

/* ---- Graphs of more than 2^31 edges, and past the device's memory. ---- */

/* Such a graph is cut into tiles of whole rows, each of at most 2^31 - 1 edges: an ordinary rectangular graph,
 * n_tile x n_cols, with a plan and kernels as any other. A run computes one tile after the other, each its own rows of y.
 * Resident, all tiles lie in backend memory. Streamed, their ids stay in host memory, and two buffers of a tile's size take
 * turns: while kernels read one, the other is filled, by the device itself from page-locked memory, else through two
 * page-locked buffers of 32 MiB by the calling thread. Then gnntune_tiled_run returns when it has read the host arrays;
 * from page-locked memory it only enqueues. docs/scaling.md has more. */
typedef struct gnntune_tiling {
    size_t struct_size;
    gnntune_tile_place place;
    /* For cuda and int32 ids: the library page-locks col_idx where it lies, as long as the graph lives. Takes no memory,
     * but seconds for each ten GB. 0 by default: memory that the caller has page-locked is seen as such. */
    int32_t pin;
    int64_t tile_edges; /* most edges of a tile, 1 to 2^31 - 1; a longer row is a tile of its own. 0, the default: 2^25
                         * where the graph is streamed, else 2^28 */
    /* Most memory of the graph and its plans together, beside the caller's arrays, features and results; what exceeds it
     * is refused before anything is allocated. Of the cpu backend all is host memory. GNNTUNE_NO_LIMIT by default. */
    uint64_t host_limit_bytes;
    uint64_t backend_limit_bytes;
} gnntune_tiling;

#define GNNTUNE_TILING_INIT \
    { sizeof(gnntune_tiling), GNNTUNE_TILES_AUTO, 0, 0, GNNTUNE_NO_LIMIT, GNNTUNE_NO_LIMIT }
GNNTUNE_API gnntune_status gnntune_tiling_init(gnntune_tiling* tiling, size_t size);

/* What a tiled graph would take, before it is made: nothing is allocated but a table of tiles, and of the arrays only
 * row_ptr is read. The graph and its plans never hold more in backend memory: formats that would are not built, as under
 * format_limit_bytes.
 *   problem        of a plan that is counted in; NULL: the graph alone
 *   host_bytes     beside the caller's arrays
 *   backend_bytes  device memory beside x and y; 0 for the cpu backend
 *   tiles          how many
 *   streamed       whether ids are streamed: what GNNTUNE_TILES_AUTO comes to
 * The last four may be NULL. Errors: as gnntune_tiled_graph_create and gnntune_tiled_plan_create, but no limits. */
GNNTUNE_API gnntune_status gnntune_tiled_memory(gnntune_context* context, const gnntune_csr* csr,
                                                const gnntune_tiling* tiling, const gnntune_problem* problem,
                                                uint64_t* host_bytes, uint64_t* backend_bytes, int64_t* tiles,
                                                int32_t* streamed);

/* Describes a graph of any number of edges by arrays in host memory: gnntune_csr with memory = GNNTUNE_HOST, offsets and
 * ids of either type, n_rows and n_cols at most 2^31 - 2. row_ptr and col_idx are borrowed, whatever their type, until the
 * graph and every plan on it have been destroyed. int64 ids are narrowed on their way, each time they are streamed; on the
 * cpu backend a resident graph copies them.
 *   tiling  NULL for the defaults
 *   stream  waited for, so that memory of an allocator that keeps the order of streams is free; the graph may be used on any
 * Synchronises, so it cannot be captured. Errors: INVALID_GRAPH, UNSUPPORTED for a row of more than 2^31 - 1 edges, OUT_OF_MEMORY, also for a limit
 * of `tiling` that would be exceeded. */
GNNTUNE_API gnntune_status gnntune_tiled_graph_create(gnntune_context* context, const gnntune_csr* csr,
                                                      const gnntune_tiling* tiling, gnntune_stream stream,
                                                      gnntune_tiled_graph** out);

/* Wait first for runs of its plans. */
GNNTUNE_API void gnntune_tiled_graph_destroy(gnntune_tiled_graph* graph);

/* As gnntune_graph_fingerprint: that of the whole graph, however it is cut, and of gnntune_graph where that holds it.
 * Computed on the host at first need. */
GNNTUNE_API gnntune_status gnntune_tiled_graph_fingerprint(gnntune_tiled_graph* graph, char out[33]);

/* Plans spmm by sum, mean or maximum on every tile. A tile that the database has measurements of is planned by them, the
 * others by their shape, as transient graphs are; nothing is measured. Formats of a streamed graph's tiles stay in backend
 * memory, so configs whose formats have something for each edge give way to those whose formats do not.
 * Of REVERSED, describe the transposed graph as a tiled graph; self loops must be edges: both are UNSUPPORTED, as are
 * other operations. Brings every tile to the device once. Synchronises, so it cannot be captured. */
GNNTUNE_API gnntune_status gnntune_tiled_plan_create(gnntune_tiled_graph* graph, const gnntune_problem* problem,
                                                     gnntune_stream stream, gnntune_tiled_plan** out);

/* Wait first for runs of the plan. */
GNNTUNE_API void gnntune_tiled_plan_destroy(gnntune_tiled_plan* plan);

/* Lines for people: tiles, memory, the configs and how many tiles have them, and gnntune_plan_explain of the first tile.
 * Buffer and result as in gnntune_context_describe. */
GNNTUNE_API size_t gnntune_tiled_plan_explain(const gnntune_tiled_plan* plan, char* buffer, size_t size);

/* One run: y [n_rows, h, k] of x [n_cols, h, k], both in backend memory. edge_weight [m, h] (MAX: [m]), of a weighted
 * problem, lies where the ids do: in host memory for a streamed graph, in backend memory for a resident one; work on
 * `stream` that writes it is waited for. argmax must be NULL, since places of edges need not fit int32. The workspace is
 * the plan's own. Any number of threads may call it, but runs of all plans of one graph follow one another, on the device
 * too. It cannot be captured in a CUDA graph. Errors: as gnntune_run. */
GNNTUNE_API gnntune_status gnntune_tiled_run(const gnntune_tiled_plan* plan, const gnntune_operands* operands,
                                             gnntune_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* GNNTUNE_GNNTUNE_H */
