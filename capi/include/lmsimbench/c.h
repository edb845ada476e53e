/**
 * \file
 * lmsimbench/c.h: the C interface of lmsimbench, the bench for simulators of
 * distributed language-model training. It is the only stable binary interface
 * of the library. This comment and those below are all that is needed to use
 * it.
 *
 * What it is for
 *   Score a simulator. Either ask it through callbacks (lmsb_simulator_new,
 *   lmsb_answers_ask), or bring a table of what it predicted
 *   (lmsb_answers_new), then lmsb_score.
 *   Try a cost model. Give its callbacks to lmsb_cost_model_new and run it
 *   through the staged pipeline (lmsb_simulator_staged) or on a single
 *   configuration (lmsb_graph_new, lmsb_timeline_new), or compare it with
 *   measured latencies, as in a unit test (lmsb_cost_model_measured).
 *   Read the measurements. lmsb_bundle_open_embedded and the views behind it.
 *   Be loaded. A plug-in exports one symbol and links nothing; see the end of
 *   this file.
 *
 * A first program
 *
 *     lmsb_bundle *bundle = NULL;
 *     lmsb_workload *workload = NULL;
 *     ...
 *     if (lmsb_bundle_open_embedded(&bundle) != LMSB_OK ||
 *         lmsb_workload_new(&workload) != LMSB_OK ||
 *         lmsb_workload_set_model(workload, bundle, "megatron-22B", 12) !=
 *             LMSB_OK) {
 *       fprintf(stderr, "%s\n", lmsb_last_error());
 *     }
 *
 *   examples/c holds whole ones.
 *
 * Conventions
 *   Names. Everything begins with lmsb_ or LMSB_; functions are
 *   lmsb_NOUN_VERB.
 *   Objects are opaque handles. A function that makes one writes it to its
 *   first argument, `out`, and NULL there if it fails (the conformance checks
 *   excepted, whose report is there where they find faults); the caller owns it
 *   and
 *   gives it to lmsb_NOUN_free, which takes NULL too and never touches the
 *   error. Whatever else is returned is borrowed; the comment says for how
 *   long. A handle that is freed must not be used or freed again: that is
 *   undefined, and a debug build of the library ends the program with a
 *   message.
 *   Errors. What can fail returns an lmsb_code. The message of the latest
 *   failure on this thread is lmsb_last_error(). A function that fails has
 *   changed nothing, unless its comment says so.
 *   Wrong calls. NULL where an argument is needed, a handle of another kind, a
 *   struct that is too short and text that is not UTF-8 give
 *   LMSB_INVALID_ARGUMENT. A getter that cannot fail by its type (it returns a
 *   number or a text) gives 0, NULL or "" for such a handle.
 *   Text that goes in is a pointer and a length in bytes, UTF-8, no NUL needed
 *   behind it; NULL with length 0 is the empty text. Text that comes out ends
 *   with a NUL.
 *   Structs that may grow begin with `struct_size`: the caller writes
 *   sizeof(struct) there. Fields are only ever added at the end. The library
 *   reads what the size covers; what it does not know it leaves alone. A struct
 *   shorter than its first version is refused.
 *   Numbers. Times are seconds, sizes bytes, rates per second; a name ends in
 *   another unit where it has one. A missing number is NaN, a missing count -1.
 *   A fact that is true, false or not stated is 1, 0 or -1.
 *   Exceptions never cross this interface, neither from the library nor from
 *   a callback.
 *   Threads. An object that is not being changed may be read by several threads
 *   at once; const in a signature means that it is only read. A workspace and
 *   a prediction belong to one thread at a time. Nothing is global but the
 *   message of each thread's latest failure.
 *   Callbacks run on the thread that called the library, unless the caller
 *   asked for several threads and the plug-in is declared thread_safe; then
 *   progress callbacks may run on any of them, one at a time. Callbacks may
 *   call the library.
 *
 * Fields
 *   The values of the library (workload, system, configuration, prediction)
 *   are read and written field by field, by name: "micro_batch", "model.hidden",
 *   "network[1].bandwidth". A list's length is lmsb_NOUN_count. The names are
 *   those of the library's JSON; lmsb_NOUN_to_json shows them all. An unknown
 *   name is LMSB_NOT_FOUND and comes with the nearest known one.
 *
 * Versions
 *   LMSB_ABI_VERSION is that of this header, lmsb_abi_version() that of the
 *   library that is loaded. Until 1.0 the shared object's version is 0 and the
 *   interface may change with a line in this list:
 *     1: first version.
 *     2: lmsb_measurements_find, lmsb_cost_model_measured,
 *        lmsb_enumerator_name; operators and groups of latent attention,
 *        experts and context parallelism, value_head_dim of a batch.
 */
#ifndef LMSIMBENCH_C_H_
#define LMSIMBENCH_C_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define LMSB_API
#elif defined(LMSB_BUILDING) && defined(__GNUC__)
#define LMSB_API __attribute__((visibility("default")))
#else
#define LMSB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LMSB_ABI_VERSION 2

/* ---------------------------------------------------------------- errors -- */

/** What became of a call. The numbers are fixed for ever. */
typedef int32_t lmsb_code;
enum {
  LMSB_OK = 0,
  LMSB_CANCELLED = 1,           /**< by a progress callback */
  LMSB_UNKNOWN = 2,
  LMSB_INVALID_ARGUMENT = 3,    /**< the caller's fault, or an illegal
                                   configuration */
  LMSB_DEADLINE_EXCEEDED = 4,
  LMSB_NOT_FOUND = 5,           /**< no such name; the message has the nearest */
  LMSB_ALREADY_EXISTS = 6,
  LMSB_PERMISSION_DENIED = 7,
  LMSB_RESOURCE_EXHAUSTED = 8,  /**< out of memory */
  LMSB_FAILED_PRECONDITION = 9, /**< a figure that is needed is not stated */
  LMSB_ABORTED = 10,
  LMSB_OUT_OF_RANGE = 11,       /**< sizes beyond what can be simulated */
  LMSB_UNIMPLEMENTED = 12,      /**< not modelled: a refusal by name */
  LMSB_INTERNAL = 13,           /**< a fault of the library or of a plug-in */
  LMSB_UNAVAILABLE = 14,
  LMSB_DATA_LOSS = 15,          /**< a file is not sound */
  LMSB_UNAUTHENTICATED = 16
};

/** The message of the latest call that failed on this thread; "" if none has.
 * Never NULL; valid until the next call that fails on this thread.
 * @since 1 */
LMSB_API const char *lmsb_last_error(void);
/** "INVALID_ARGUMENT" for 3; "UNKNOWN" for a number that is no code.
 * @since 1 */
LMSB_API const char *lmsb_code_name(lmsb_code code);

/** LMSB_ABI_VERSION of the library that is loaded.
 * @since 1 */
LMSB_API uint32_t lmsb_abi_version(void);
/** Release of the library that is loaded, "0.1.0".
 * @since 1 */
LMSB_API const char *lmsb_version(void);

/* ------------------------------------------------------------------ text -- */

/** A text that the library made. */
typedef struct lmsb_text lmsb_text;

/** The characters, with a NUL behind them, and how many there are without it.
 * Valid as long as the text.
 * @since 1 */
LMSB_API const char *lmsb_text_data(const lmsb_text *text);
LMSB_API size_t lmsb_text_length(const lmsb_text *text);
LMSB_API void lmsb_text_free(lmsb_text *text);

/* ---------------------------------------------- measurements and columns -- */

/** A file of measurements: six linked views (iterations, memory, ranks,
 * operators, collectives, gemms) and the tables that complete them (sources
 * with their licences, platforms, models, ...). */
typedef struct lmsb_bundle lmsb_bundle;
/** A table: named columns, one entry a row. */
typedef struct lmsb_view lmsb_view;
/** One column of a view. */
typedef struct lmsb_column lmsb_column;
/** A table that the library made; owns its view. */
typedef struct lmsb_table lmsb_table;

/** What a column holds. */
enum {
  LMSB_COLUMN_F64 = 0,    /**< missing: NaN */
  LMSB_COLUMN_I64 = 1,    /**< missing: -1 */
  LMSB_COLUMN_STRING = 2  /**< missing: "" */
};

/** The measurements that are built into the library.
 * @since 1 */
LMSB_API lmsb_code lmsb_bundle_open_embedded(lmsb_bundle **out);
/** Maps a file, which must not be overwritten in place while it is open.
 * LMSB_NOT_FOUND if there is none, LMSB_DATA_LOSS if it is not sound.
 * @since 1 */
LMSB_API lmsb_code lmsb_bundle_open_file(lmsb_bundle **out, const char *path,
                                         size_t path_length);
/** Reads a buffer, which the caller keeps as it is until the bundle is freed,
 * and the measurements that were read from it, with their answers.
 * @since 1 */
LMSB_API lmsb_code lmsb_bundle_open_memory(lmsb_bundle **out, const void *bytes,
                                           size_t size);
LMSB_API void lmsb_bundle_free(lmsb_bundle *bundle);
/** Hash of the contents in 16 hexadecimal digits. Lives as long as the bundle.
 * @since 1 */
LMSB_API const char *lmsb_bundle_fingerprint(const lmsb_bundle *bundle);

/** \{ The tables of a bundle, by number and by name. Views and columns live as
 * long as what they came from; no entry is ever copied.
 * @since 1 */
LMSB_API size_t lmsb_bundle_view_count(const lmsb_bundle *bundle);
LMSB_API const lmsb_view *lmsb_bundle_view_at(const lmsb_bundle *bundle,
                                              size_t index);
LMSB_API lmsb_code lmsb_bundle_view(const lmsb_bundle *bundle, const char *name,
                                    size_t name_length, const lmsb_view **view);
/** \} */

/** \{ A view: its name, its rows and its columns. lmsb_view_column_at is NULL
 * behind the last one.
 * @since 1 */
LMSB_API const char *lmsb_view_name(const lmsb_view *view);
LMSB_API size_t lmsb_view_rows(const lmsb_view *view);
LMSB_API size_t lmsb_view_column_count(const lmsb_view *view);
LMSB_API const lmsb_column *lmsb_view_column_at(const lmsb_view *view,
                                                size_t index);
LMSB_API lmsb_code lmsb_view_column(const lmsb_view *view, const char *name,
                                    size_t name_length,
                                    const lmsb_column **column);
/** \} */

/** \{ A column: its name, its type (LMSB_COLUMN_*; -1 if it is no column) and
 * its entries, as many as its view has rows. LMSB_INVALID_ARGUMENT if it is of
 * another type.
 * @since 1 */
LMSB_API const char *lmsb_column_name(const lmsb_column *column);
LMSB_API int32_t lmsb_column_type(const lmsb_column *column);
LMSB_API lmsb_code lmsb_column_f64(const lmsb_column *column,
                                   const double **entries, size_t *count);
LMSB_API lmsb_code lmsb_column_i64(const lmsb_column *column,
                                   const int64_t **entries, size_t *count);
/** Entries of a column of strings are numbers; equal numbers, equal strings,
 * also in other columns of the same bundle. */
LMSB_API lmsb_code lmsb_column_strings(const lmsb_column *column,
                                       const uint32_t **entries,
                                       size_t *count);
/** The string with this number, an entry of this column; `length` may be NULL.
 * NULL if the column has no such string. */
LMSB_API const char *lmsb_column_string(const lmsb_column *column,
                                        uint32_t entry, size_t *length);
/** \} */

/** The view of a table; lives as long as the table.
 * @since 1 */
LMSB_API const lmsb_view *lmsb_table_view(const lmsb_table *table);
LMSB_API void lmsb_table_free(lmsb_table *table);

/* ---------------------------------------------------------------- values -- */

/** What is trained: model, sequence length, global batch, precision, optimizer.
 */
typedef struct lmsb_workload lmsb_workload;
/** Where: accelerator and network. */
typedef struct lmsb_system lmsb_system;
/** How it is divided. */
typedef struct lmsb_config lmsb_config;
/** What a simulator says of these three. */
typedef struct lmsb_prediction lmsb_prediction;

/** \{ A workload. A new one states nothing. From JSON: LMSB_INVALID_ARGUMENT
 * names the place.
 * @since 1 */
LMSB_API lmsb_code lmsb_workload_new(lmsb_workload **out);
LMSB_API lmsb_code lmsb_workload_from_json(lmsb_workload **out,
                                           const char *json,
                                           size_t json_length);
LMSB_API lmsb_code lmsb_workload_copy(lmsb_workload **out,
                                      const lmsb_workload *workload);
LMSB_API void lmsb_workload_free(lmsb_workload *workload);
LMSB_API lmsb_code lmsb_workload_to_json(const lmsb_workload *workload,
                                         lmsb_text **out);
/** Puts in the model with this name in the bundle, or in a JSON file (a name
 * that ends in ".json" or holds a '/'). */
LMSB_API lmsb_code lmsb_workload_set_model(lmsb_workload *workload,
                                           const lmsb_bundle *bundle,
                                           const char *name,
                                           size_t name_length);
/** \} */
/** \{ Fields of a workload. _f64 takes numbers, and reads counts (NaN where
 * missing); _i64 takes counts and facts (1, 0, -1), _text texts and names
 * ("bf16"; "" and "not stated" where nothing is known), _json any field, lists
 * and parts too. An infinite number is refused. What lmsb_workload_text points
 * to lives until the field is changed.
 * @since 1 */
LMSB_API lmsb_code lmsb_workload_f64(const lmsb_workload *workload,
                                     const char *field, size_t field_length,
                                     double *value);
LMSB_API lmsb_code lmsb_workload_i64(const lmsb_workload *workload,
                                     const char *field, size_t field_length,
                                     int64_t *value);
LMSB_API lmsb_code lmsb_workload_text(const lmsb_workload *workload,
                                      const char *field, size_t field_length,
                                      const char **value);
LMSB_API lmsb_code lmsb_workload_count(const lmsb_workload *workload,
                                       const char *field, size_t field_length,
                                       size_t *count);
LMSB_API lmsb_code lmsb_workload_set_f64(lmsb_workload *workload,
                                         const char *field,
                                         size_t field_length, double value);
LMSB_API lmsb_code lmsb_workload_set_i64(lmsb_workload *workload,
                                         const char *field,
                                         size_t field_length, int64_t value);
LMSB_API lmsb_code lmsb_workload_set_text(lmsb_workload *workload,
                                          const char *field,
                                          size_t field_length,
                                          const char *value,
                                          size_t value_length);
LMSB_API lmsb_code lmsb_workload_set_json(lmsb_workload *workload,
                                          const char *field,
                                          size_t field_length,
                                          const char *json,
                                          size_t json_length);
/** \} */

/** \{ A system. lmsb_system_find takes a platform of the bundle, or a JSON file.
 * @since 1 */
LMSB_API lmsb_code lmsb_system_new(lmsb_system **out);
LMSB_API lmsb_code lmsb_system_from_json(lmsb_system **out, const char *json,
                                         size_t json_length);
LMSB_API lmsb_code lmsb_system_find(lmsb_system **out,
                                    const lmsb_bundle *bundle,
                                    const char *name, size_t name_length);
LMSB_API lmsb_code lmsb_system_copy(lmsb_system **out,
                                    const lmsb_system *system);
LMSB_API void lmsb_system_free(lmsb_system *system);
LMSB_API lmsb_code lmsb_system_to_json(const lmsb_system *system,
                                       lmsb_text **out);
/** \} */
/** \{ Fields of a system, as those of a workload.
 * @since 1 */
LMSB_API lmsb_code lmsb_system_f64(const lmsb_system *system, const char *field,
                                   size_t field_length, double *value);
LMSB_API lmsb_code lmsb_system_i64(const lmsb_system *system, const char *field,
                                   size_t field_length, int64_t *value);
LMSB_API lmsb_code lmsb_system_text(const lmsb_system *system,
                                    const char *field, size_t field_length,
                                    const char **value);
LMSB_API lmsb_code lmsb_system_count(const lmsb_system *system,
                                     const char *field, size_t field_length,
                                     size_t *count);
LMSB_API lmsb_code lmsb_system_set_f64(lmsb_system *system, const char *field,
                                       size_t field_length, double value);
LMSB_API lmsb_code lmsb_system_set_i64(lmsb_system *system, const char *field,
                                       size_t field_length, int64_t value);
LMSB_API lmsb_code lmsb_system_set_text(lmsb_system *system, const char *field,
                                        size_t field_length, const char *value,
                                        size_t value_length);
LMSB_API lmsb_code lmsb_system_set_json(lmsb_system *system, const char *field,
                                        size_t field_length, const char *json,
                                        size_t json_length);
/** \} */

/** \{ A configuration. lmsb_config_find takes that of a measured run, by its
 * record id, or a JSON file.
 * @since 1 */
LMSB_API lmsb_code lmsb_config_new(lmsb_config **out);
LMSB_API lmsb_code lmsb_config_from_json(lmsb_config **out, const char *json,
                                         size_t json_length);
LMSB_API lmsb_code lmsb_config_find(lmsb_config **out,
                                    const lmsb_bundle *bundle,
                                    const char *record, size_t record_length);
LMSB_API lmsb_code lmsb_config_copy(lmsb_config **out,
                                    const lmsb_config *config);
LMSB_API void lmsb_config_free(lmsb_config *config);
LMSB_API lmsb_code lmsb_config_to_json(const lmsb_config *config,
                                       lmsb_text **out);
/** LMSB_OK if the configuration breaks no rule for this workload on this many
 * devices (-1: as many as it takes), else LMSB_INVALID_ARGUMENT with the
 * message of every broken rule and the nearest legal configuration. */
LMSB_API lmsb_code lmsb_config_check(const lmsb_config *config,
                                     const lmsb_workload *workload,
                                     int64_t devices);
/** The nearest configuration that is legal. LMSB_NOT_FOUND if there is none. */
LMSB_API lmsb_code lmsb_config_nearest_legal(lmsb_config **out,
                                             const lmsb_config *config,
                                             const lmsb_workload *workload,
                                             int64_t devices);
/** \} */
/** \{ Fields of a configuration, as those of a workload.
 * @since 1 */
LMSB_API lmsb_code lmsb_config_f64(const lmsb_config *config, const char *field,
                                   size_t field_length, double *value);
LMSB_API lmsb_code lmsb_config_i64(const lmsb_config *config, const char *field,
                                   size_t field_length, int64_t *value);
LMSB_API lmsb_code lmsb_config_text(const lmsb_config *config,
                                    const char *field, size_t field_length,
                                    const char **value);
LMSB_API lmsb_code lmsb_config_count(const lmsb_config *config,
                                     const char *field, size_t field_length,
                                     size_t *count);
LMSB_API lmsb_code lmsb_config_set_f64(lmsb_config *config, const char *field,
                                       size_t field_length, double value);
LMSB_API lmsb_code lmsb_config_set_i64(lmsb_config *config, const char *field,
                                       size_t field_length, int64_t value);
LMSB_API lmsb_code lmsb_config_set_text(lmsb_config *config, const char *field,
                                        size_t field_length, const char *value,
                                        size_t value_length);
LMSB_API lmsb_code lmsb_config_set_json(lmsb_config *config, const char *field,
                                        size_t field_length, const char *json,
                                        size_t json_length);
/** \} */

/** \{ A prediction. A new one answers nothing; lmsb_simulator_predict fills it
 * and reuses what it has allocated.
 * @since 1 */
LMSB_API lmsb_code lmsb_prediction_new(lmsb_prediction **out);
LMSB_API void lmsb_prediction_free(lmsb_prediction *prediction);
LMSB_API lmsb_code lmsb_prediction_to_json(const lmsb_prediction *prediction,
                                           lmsb_text **out);
/** \} */
/** \{ Fields of a prediction, as those of a workload: "iteration_time_s",
 * "peak_memory_bytes", "verdict" ("fits", "does not fit", "illegal"),
 * "time.bubble_s", "memory.weights_bytes", "ranks[0].compute_s", ... What a
 * simulator does not answer it leaves alone.
 * @since 1 */
LMSB_API lmsb_code lmsb_prediction_f64(const lmsb_prediction *prediction,
                                       const char *field, size_t field_length,
                                       double *value);
LMSB_API lmsb_code lmsb_prediction_i64(const lmsb_prediction *prediction,
                                       const char *field, size_t field_length,
                                       int64_t *value);
LMSB_API lmsb_code lmsb_prediction_text(const lmsb_prediction *prediction,
                                        const char *field, size_t field_length,
                                        const char **value);
LMSB_API lmsb_code lmsb_prediction_count(const lmsb_prediction *prediction,
                                         const char *field,
                                         size_t field_length, size_t *count);
LMSB_API lmsb_code lmsb_prediction_set_f64(lmsb_prediction *prediction,
                                           const char *field,
                                           size_t field_length, double value);
LMSB_API lmsb_code lmsb_prediction_set_i64(lmsb_prediction *prediction,
                                           const char *field,
                                           size_t field_length, int64_t value);
LMSB_API lmsb_code lmsb_prediction_set_text(lmsb_prediction *prediction,
                                            const char *field,
                                            size_t field_length,
                                            const char *value,
                                            size_t value_length);
LMSB_API lmsb_code lmsb_prediction_set_json(lmsb_prediction *prediction,
                                            const char *field,
                                            size_t field_length,
                                            const char *json,
                                            size_t json_length);
/** \} */

/* ----------------------------------------------------------- cost models -- */

/** Maps operators and collectives to seconds. */
typedef struct lmsb_cost_model lmsb_cost_model;
/** Where a callback puts the text of its error. */
typedef struct lmsb_error lmsb_error;

/** Sets the text of a callback's error, which arrives in the caller's message.
 * May be called several times; the last text counts. Text that is not UTF-8 is
 * replaced by a note that says so.
 * @since 1 */
LMSB_API void lmsb_error_set(lmsb_error *error, const char *text,
                             size_t text_length);

/** What a cost rests on. */
enum {
  LMSB_EVIDENCE_NOT_ANSWERED = 0,
  LMSB_EVIDENCE_MEASURED = 1,     /**< this very shape was measured */
  LMSB_EVIDENCE_INTERPOLATED = 2, /**< between measured shapes */
  LMSB_EVIDENCE_EXTRAPOLATED = 3, /**< outside the measured shapes */
  LMSB_EVIDENCE_ANALYTIC = 4      /**< a formula */
};

/** What an operator does. */
enum {
  LMSB_OPERATOR_NOT_STATED = 0,
  LMSB_OPERATOR_EMBEDDING = 1,
  LMSB_OPERATOR_POSITION_EMBEDDING = 2,
  LMSB_OPERATOR_EMBEDDING_DROPOUT = 3,
  LMSB_OPERATOR_NORM = 4,
  LMSB_OPERATOR_QKV_PROJECTION = 5, /**< one matrix multiplication */
  LMSB_OPERATOR_QK_NORM = 6,
  LMSB_OPERATOR_ROTARY = 7,
  LMSB_OPERATOR_ATTENTION = 8,         /**< fused core */
  LMSB_OPERATOR_ATTENTION_SCORES = 9,  /**< unfused: queries times keys */
  LMSB_OPERATOR_SOFTMAX = 10,          /**< unfused: scale, mask, softmax */
  LMSB_OPERATOR_ATTENTION_DROPOUT = 11,
  LMSB_OPERATOR_ATTENTION_VALUES = 12, /**< unfused: probabilities times values */
  LMSB_OPERATOR_OUTPUT_PROJECTION = 13,
  LMSB_OPERATOR_RESIDUAL = 14,
  LMSB_OPERATOR_MLP_UP = 15, /**< gated: both inputs in one multiplication */
  LMSB_OPERATOR_MLP_ACTIVATION = 16,
  LMSB_OPERATOR_MLP_DOWN = 17,
  LMSB_OPERATOR_OUTPUT_LAYER = 18,
  LMSB_OPERATOR_CROSS_ENTROPY = 19,
  LMSB_OPERATOR_GRADIENT_NORM = 20,
  LMSB_OPERATOR_OPTIMIZER = 21,
  LMSB_OPERATOR_LATENT_DOWN = 22,
  /**< latent attention: hidden channels to compressed ones */
  LMSB_OPERATOR_LATENT_NORM = 23, /**< of the compressed channels */
  LMSB_OPERATOR_LATENT_UP = 24, /**< compressed channels to heads */
  LMSB_OPERATOR_RING_MERGE = 25,
  /**< joins what attention gave for the keys of one ring step */
  LMSB_OPERATOR_ROUTER = 26, /**< hidden channels to a score for each expert */
  LMSB_OPERATOR_ROUTING = 27, /**< scores to the experts of each token */
  LMSB_OPERATOR_PERMUTE = 28,
  /**< tokens in the order of their experts, and of devices */
  LMSB_OPERATOR_UNPERMUTE = 29,
  /**< weighted sum of what a token's experts give */
  LMSB_OPERATOR_EXPERT_UP = 30,
  /**< of all experts of the device, `batch` of them */
  LMSB_OPERATOR_EXPERT_ACTIVATION = 31, /**< of all experts of the device */
  LMSB_OPERATOR_EXPERT_DOWN = 32,
  /**< of all experts of the device, `batch` of them */
  LMSB_OPERATOR_SHARED_EXPERT_UP = 33,
  /**< of the experts that take every token */
  LMSB_OPERATOR_SHARED_EXPERT_ACTIVATION = 34,
  /**< of the experts that take every token */
  LMSB_OPERATOR_SHARED_EXPERT_DOWN = 35,
  /**< of the experts that take every token */
  LMSB_OPERATOR_MULTI_TOKEN_PROJECTION = 36, /**< two hidden widths to one */
  LMSB_OPERATOR_HOST_COPY = 37
  /**< between the memories of the device and of its host */
};

/** The part of the iteration that an operator belongs to. */
enum {
  LMSB_PASS_NOT_STATED = 0,
  LMSB_PASS_FORWARD = 1,
  LMSB_PASS_INPUT_GRADIENT = 2, /**< without weights: the whole backward pass */
  LMSB_PASS_WEIGHT_GRADIENT = 3,
  LMSB_PASS_OPTIMIZER = 4
};

/** What bounds an operator and which figures describe its shape. */
enum {
  LMSB_COMPUTATION_MATRIX_MULTIPLICATION = 0, /**< batch, m, n, k */
  LMSB_COMPUTATION_ATTENTION = 1,   /**< batch, query_tokens, key_tokens, heads,
                                       kv_heads, head_dim, causal, window,
                                       value_head_dim */
  LMSB_COMPUTATION_ELEMENTWISE = 2, /**< rows, width */
  LMSB_COMPUTATION_HOST = 3 /**< rows, width; bounded by the host's memory and,
                               of a copy, by the link to it */
};

/** Format of what is computed on. */
enum {
  LMSB_PRECISION_NOT_STATED = 0,
  LMSB_PRECISION_FP32 = 1,
  LMSB_PRECISION_TF32 = 2,
  LMSB_PRECISION_FP16 = 3,
  LMSB_PRECISION_BF16 = 4,
  LMSB_PRECISION_AMP = 5, /**< automatic mixed precision, format not stated */
  LMSB_PRECISION_FP8 = 6, /**< scaling not stated, or delayed */
  LMSB_PRECISION_FP8_CURRENT_SCALING = 7,
  LMSB_PRECISION_FP8_ROWWISE = 8,
  LMSB_PRECISION_FP8_TENSORWISE = 9,
  LMSB_PRECISION_MXFP8 = 10,
  LMSB_PRECISION_FP8_MX = 11, /**< the same, as another source names it */
  LMSB_PRECISION_NVFP4 = 12
};

/** Kinds of collective communication. */
enum {
  LMSB_COLLECTIVE_NOT_STATED = 0,
  LMSB_COLLECTIVE_ALL_REDUCE = 1,
  LMSB_COLLECTIVE_ALL_GATHER = 2,
  LMSB_COLLECTIVE_REDUCE_SCATTER = 3,
  LMSB_COLLECTIVE_ALL_TO_ALL = 4,
  LMSB_COLLECTIVE_BROADCAST = 5,
  LMSB_COLLECTIVE_SEND_RECEIVE = 6
};

/** The ranks that communicate. */
enum {
  LMSB_GROUP_NOT_STATED = 0,
  LMSB_GROUP_TENSOR = 1,
  LMSB_GROUP_DATA = 2, /**< data times context parallelism */
  LMSB_GROUP_SHARD = 3,     /**< the part of data that is sharded over */
  LMSB_GROUP_REPLICA = 4,   /**< the ranks that hold the same shard */
  LMSB_GROUP_PIPELINE = 5,  /**< a rank and its neighbour */
  LMSB_GROUP_EMBEDDING = 6, /**< first and last stage */
  LMSB_GROUP_MODEL = 7,     /**< tensor times pipeline */
  LMSB_GROUP_WORLD = 8,
  LMSB_GROUP_CONTEXT = 9, /**< they hold a part each of the same sequences */
  LMSB_GROUP_CONTEXT_INNER = 10, /**< those of them that exchange heads */
  LMSB_GROUP_CONTEXT_OUTER = 11,
  /**< those of them that pass keys and values on */
  LMSB_GROUP_EXPERT = 12, /**< they hold the experts of a layer */
  LMSB_GROUP_EXPERT_TENSOR = 13, /**< they share the same experts */
  LMSB_GROUP_EXPERT_REGION = 14, /**< expert times expert tensor parallelism */
  LMSB_GROUP_EXPERT_DATA = 15
  /**< they hold the same part of the same experts */
};

/** \{ A column of a batch: the entry of operator i lies `i * stride` bytes
 * behind the first. LMSB_U8, LMSB_I64, LMSB_I32 and LMSB_F64 read it. These
 * structs never change. */
typedef struct lmsb_u8_column {
  const uint8_t *first;
  size_t stride;
} lmsb_u8_column;
typedef struct lmsb_i32_column {
  const int32_t *first;
  size_t stride;
} lmsb_i32_column;
typedef struct lmsb_i64_column {
  const int64_t *first;
  size_t stride;
} lmsb_i64_column;
typedef struct lmsb_f64_column {
  const double *first;
  size_t stride;
} lmsb_f64_column;
/** \} */
#define LMSB_AT_(type, column, i) \
  (*(const type *)(const void *)((const char *)(column).first + \
                                 (size_t)(i) * (column).stride))
#define LMSB_U8(column, i) LMSB_AT_(uint8_t, column, i)
#define LMSB_I32(column, i) LMSB_AT_(int32_t, column, i)
#define LMSB_I64(column, i) LMSB_AT_(int64_t, column, i)
#define LMSB_F64(column, i) LMSB_AT_(double, column, i)

/** Operators, one entry each in every column. A figure that does not apply is
 * -1. Lives as long as the call that hands it over. */
typedef struct lmsb_operator_batch {
  size_t struct_size;
  size_t count;
  lmsb_u8_column kind;        /**< LMSB_OPERATOR_* */
  lmsb_u8_column pass;        /**< LMSB_PASS_* */
  lmsb_u8_column computation; /**< LMSB_COMPUTATION_* */
  lmsb_u8_column precision;   /**< LMSB_PRECISION_* */
  /** `batch` matrix multiplications C[m, n] = A[m, k] B[k, n]; for attention
   * `batch` is the number of sequences. */
  lmsb_i64_column batch;
  lmsb_i64_column m;
  lmsb_i64_column n;
  lmsb_i64_column k;
  lmsb_i64_column query_tokens;
  lmsb_i64_column key_tokens;
  lmsb_i64_column heads;
  lmsb_i64_column kv_heads;
  lmsb_i64_column head_dim;
  lmsb_u8_column causal;  /**< 1 or 0 */
  lmsb_i64_column window; /**< tokens a query attends to at most; 0: all */
  lmsb_i64_column rows;   /**< elementwise: rows of `width` elements */
  lmsb_i64_column width;
  /** Floating-point operations, multiply and add as two; inside of the mask
   * only. */
  lmsb_f64_column flops;
  /** Bytes that device memory has to move at least. */
  lmsb_f64_column bytes;
  /** Attention: width of a value head where it is not head_dim, else -1. Since
   * version 2. */
  lmsb_i64_column value_head_dim;
} lmsb_operator_batch;

/** Collectives with the span of the group that runs them. */
typedef struct lmsb_collective_batch {
  size_t struct_size;
  size_t count;
  lmsb_u8_column kind;  /**< LMSB_COLLECTIVE_* */
  lmsb_u8_column group; /**< LMSB_GROUP_* */
  /** The whole tensor: what every rank holds before an all-reduce or a
   * reduce-scatter and after an all-gather; what one rank sends in an
   * all-to-all, a broadcast or a send. */
  lmsb_i64_column bytes;
  lmsb_i64_column members;
  lmsb_i64_column nodes;            /**< that hold a member */
  lmsb_i64_column members_per_node; /**< in the node that holds most */
  /** Index into the system's "network": the innermost level that joins all. */
  lmsb_i32_column level;
} lmsb_collective_batch;

/** A cost model of the caller's. Every function gets `user`. */
typedef struct lmsb_cost_model_functions {
  size_t struct_size;
  void *user;
  /** Name in messages and in print, UTF-8 with a NUL. Copied. */
  const char *name;
  /** 1: its functions may be called by several threads at once. */
  int32_t thread_safe;
  int32_t reserved; /**< 0 */
  /** Seconds and evidence (LMSB_EVIDENCE_*) of each operator of the batch, on
   * one device of the system. `evidence` arrives as NOT_ANSWERED everywhere:
   * what the function does not touch it does not answer, and another model may
   * be asked. Seconds that are NaN, negative or infinite where it answers are
   * an error. Anything but LMSB_OK ends the call that needed the costs. The
   * same question has to get the same answer. NULL: answers no operator. */
  lmsb_code (*operator_costs)(void *user, const lmsb_system *system,
                              const lmsb_operator_batch *operators,
                              double *seconds, int32_t *evidence,
                              lmsb_error *error);
  /** The same for collectives. */
  lmsb_code (*collective_costs)(void *user, const lmsb_system *system,
                                const lmsb_collective_batch *collectives,
                                double *seconds, int32_t *evidence,
                                lmsb_error *error);
  /** Called once, when the model that was made of these functions and all that
   * uses it is freed; not if making it failed. May be NULL. */
  void (*destroy)(void *user);
} lmsb_cost_model_functions;

/** A cost model of callbacks. Copies the struct.
 * @since 1 */
LMSB_API lmsb_code lmsb_cost_model_new(
    lmsb_cost_model **out, const lmsb_cost_model_functions *functions);
/** A built-in cost model: "default", the best evidence of the bundle; "staged",
 * the same with the dispatch of a framework; "roofline" and "collectives",
 * formulas; "tables", the measurements of the bundle alone.
 * @since 1 */
LMSB_API lmsb_code lmsb_cost_model_built_in(lmsb_cost_model **out,
                                            const lmsb_bundle *bundle,
                                            const char *name,
                                            size_t name_length);
/** Asks its parts in turn: each is asked what all before it did not answer. The
 * caller keeps, and may free, its parts.
 * @since 1 */
LMSB_API lmsb_code lmsb_cost_model_composite(
    lmsb_cost_model **out, const char *name, size_t name_length,
    const lmsb_cost_model *const *parts, size_t part_count);
LMSB_API void lmsb_cost_model_free(lmsb_cost_model *model);
/** Lives as long as the model.
 * @since 1 */
LMSB_API const char *lmsb_cost_model_name(const lmsb_cost_model *model);
/** \{ Asks a model. `seconds` and `evidence` hold as many entries as the batch.
 * @since 1 */
LMSB_API lmsb_code lmsb_cost_model_operators(
    const lmsb_cost_model *model, const lmsb_system *system,
    const lmsb_operator_batch *operators, double *seconds, int32_t *evidence);
LMSB_API lmsb_code lmsb_cost_model_collectives(
    const lmsb_cost_model *model, const lmsb_system *system,
    const lmsb_collective_batch *collectives, double *seconds,
    int32_t *evidence);
/** \} */

/** The name that tables, JSON and the command line use for a number of an
 * enumeration: "operator" for LMSB_OPERATOR_*, "pass", "computation",
 * "precision", "collective", "group", "evidence", "verdict". Lives for ever;
 * NULL if there is no such number or enumeration.
 * @since 2 */
LMSB_API const char *lmsb_enumerator_name(const char *enumeration,
                                          size_t enumeration_length,
                                          int32_t value);

/* ------------------------------------------------------- execution graph -- */

/** What one iteration of a configuration runs. */
typedef struct lmsb_graph lmsb_graph;

/** Compiles, places and lowers a configuration. Choices that it leaves open are
 * made as the simulator "staged" makes them.
 * @since 1 */
LMSB_API lmsb_code lmsb_graph_new(lmsb_graph **out,
                                  const lmsb_workload *workload,
                                  const lmsb_system *system,
                                  const lmsb_config *config);
LMSB_API void lmsb_graph_free(lmsb_graph *graph);
/** \{ The graph's parts as batches, to be given to a cost model: its distinct
 * operators, and its distinct collectives, each with every span that runs it.
 * Live as long as the graph.
 * @since 1 */
LMSB_API const lmsb_operator_batch *lmsb_graph_operator_batch(
    const lmsb_graph *graph);
LMSB_API const lmsb_collective_batch *lmsb_graph_collective_batch(
    const lmsb_graph *graph);
/** \} */
/** \{ The graph's parts as tables with names for the enumerations:
 *   operators: kind, pass, computation, precision, batch, m, n, k,
 *     query_tokens, key_tokens, heads, kv_heads, head_dim, causal, window,
 *     rows, width, flops, bytes, value_head_dim;
 *   collectives: kind, group, bytes, members, nodes, members_per_node, level;
 *   rank_classes: pipeline_rank, pipeline_kind, ranks;
 *   tasks, in the order in which each stream runs them: rank_class, stream,
 *     operator or collective (row of that table, else -1), micro_batch, chunk,
 *     direction, recomputed.
 * @since 1 */
LMSB_API lmsb_code lmsb_graph_operators(const lmsb_graph *graph,
                                        lmsb_table **out);
LMSB_API lmsb_code lmsb_graph_collectives(const lmsb_graph *graph,
                                          lmsb_table **out);
LMSB_API lmsb_code lmsb_graph_rank_classes(const lmsb_graph *graph,
                                           lmsb_table **out);
LMSB_API lmsb_code lmsb_graph_tasks(const lmsb_graph *graph, lmsb_table **out);
/** \} */
/** Every stage's output as JSON: "program", "placement" or "graph".
 * @since 1 */
LMSB_API lmsb_code lmsb_graph_to_json(const lmsb_graph *graph,
                                      const char *stage, size_t stage_length,
                                      lmsb_text **out);

/** Everything that happens in one iteration. */
typedef struct lmsb_timeline lmsb_timeline;

/** Costs a graph with a model and simulates every operator and collective. Both
 * may be freed before the timeline.
 * @since 1 */
LMSB_API lmsb_code lmsb_timeline_new(lmsb_timeline **out,
                                     const lmsb_graph *graph,
                                     const lmsb_cost_model *model);
LMSB_API void lmsb_timeline_free(lmsb_timeline *timeline);
/** @since 1 */
LMSB_API double lmsb_timeline_iteration_time_s(const lmsb_timeline *timeline);
/** \{ As tables:
 *   slices: rank_class, stream, start_s, end_s, name, micro_batch, chunk,
 *     direction, recomputed;
 *   memory: rank_class, time_s, bytes (from this moment to the next row's).
 * @since 1 */
LMSB_API lmsb_code lmsb_timeline_slices(const lmsb_timeline *timeline,
                                        lmsb_table **out);
LMSB_API lmsb_code lmsb_timeline_memory(const lmsb_timeline *timeline,
                                        lmsb_table **out);
/** \} */
/** The JSON that Perfetto opens.
 * @since 1 */
LMSB_API lmsb_code lmsb_timeline_to_perfetto(const lmsb_timeline *timeline,
                                             lmsb_text **out);

/* ------------------------------------------------------------ simulators -- */

/** Maps (workload, system, configuration) to a prediction. */
typedef struct lmsb_simulator lmsb_simulator;
/** Memory that repeated predictions reuse; one a thread. */
typedef struct lmsb_workspace lmsb_workspace;

/** A simulator of the caller's. */
typedef struct lmsb_simulator_functions {
  size_t struct_size;
  void *user;
  /** Name under which it is scored, UTF-8 with a NUL. Copied. */
  const char *name;
  /** 1: `predict` may be called by several threads at once. */
  int32_t thread_safe;
  int32_t reserved; /**< 0 */
  /** Fills the fields of `prediction` that it answers; all arrive as not
   * answered. What it cannot express it refuses with LMSB_UNIMPLEMENTED, what
   * lacks a figure with LMSB_FAILED_PRECONDITION, what cannot run with
   * LMSB_INVALID_ARGUMENT, each with a text; every other code is a failure.
   * The arguments live as long as the call. The same question has to get the
   * same answer. */
  lmsb_code (*predict)(void *user, const lmsb_workload *workload,
                       const lmsb_system *system, const lmsb_config *config,
                       lmsb_prediction *prediction, lmsb_error *error);
  /** Called once, when the simulator that was made of these functions is freed;
   * not if making it failed. May be NULL. */
  void (*destroy)(void *user);
} lmsb_simulator_functions;

/** A simulator of callbacks. Copies the struct.
 * @since 1 */
LMSB_API lmsb_code lmsb_simulator_new(
    lmsb_simulator **out, const lmsb_simulator_functions *functions);
/** A simulator that comes with the library: "calculon", "staged", ...; "" lists
 * them all in the message of its error.
 * @since 1 */
LMSB_API lmsb_code lmsb_simulator_built_in(lmsb_simulator **out,
                                           const lmsb_bundle *bundle,
                                           const char *name,
                                           size_t name_length);
/** The five stages with this cost model. The caller keeps, and may free, the
 * model.
 * @since 1 */
LMSB_API lmsb_code lmsb_simulator_staged(lmsb_simulator **out, const char *name,
                                         size_t name_length,
                                         const lmsb_cost_model *model);
LMSB_API void lmsb_simulator_free(lmsb_simulator *simulator);
/** Lives as long as the simulator.
 * @since 1 */
LMSB_API const char *lmsb_simulator_name(const lmsb_simulator *simulator);

/** \{ @since 1 */
LMSB_API lmsb_code lmsb_workspace_new(lmsb_workspace **out);
LMSB_API void lmsb_workspace_free(lmsb_workspace *workspace);
/** \} */

/** Predicts one configuration. With a workspace (NULL: none) built-in simulators
 * allocate nothing once they have answered a question of the size. After an
 * error the prediction answers nothing. LMSB_UNIMPLEMENTED,
 * LMSB_FAILED_PRECONDITION and LMSB_INVALID_ARGUMENT are refusals, with their
 * reason as the message.
 * @since 1 */
LMSB_API lmsb_code lmsb_simulator_predict(const lmsb_simulator *simulator,
                                          const lmsb_workload *workload,
                                          const lmsb_system *system,
                                          const lmsb_config *config,
                                          lmsb_workspace *workspace,
                                          lmsb_prediction *prediction);

/* --------------------------------------------------------------- scoring -- */

/** The runs of a bundle, ready to be asked about. */
typedef struct lmsb_measurements lmsb_measurements;
/** What one simulator said of them. */
typedef struct lmsb_answers lmsb_answers;
/** Simulators scored on a selection of runs. */
typedef struct lmsb_scorecard lmsb_scorecard;

/** Reads the runs of a bundle, which may be freed before.
 * @since 1 */
LMSB_API lmsb_code lmsb_measurements_open(lmsb_measurements **out,
                                          const lmsb_bundle *bundle);
LMSB_API void lmsb_measurements_free(lmsb_measurements *measurements);
/** \{ The runs, configurations that failed to run behind those that ran. What is
 * returned lives as long as the measurements; NULL behind the last run.
 * lmsb_measurements_run_system is a new system: the platform as the run used
 * it.
 * @since 1 */
LMSB_API size_t lmsb_measurements_run_count(
    const lmsb_measurements *measurements);
LMSB_API const char *lmsb_measurements_record(
    const lmsb_measurements *measurements, size_t run);
LMSB_API const lmsb_workload *lmsb_measurements_run_workload(
    const lmsb_measurements *measurements, size_t run);
LMSB_API const lmsb_config *lmsb_measurements_run_config(
    const lmsb_measurements *measurements, size_t run);
LMSB_API lmsb_code lmsb_measurements_run_system(
    lmsb_system **out, const lmsb_measurements *measurements, size_t run);
/** \} */
/** The run with this record id. LMSB_NOT_FOUND with the nearest id if there is
 * none.
 * @since 2 */
LMSB_API lmsb_code lmsb_measurements_find(const lmsb_measurements *measurements,
                                          const char *record,
                                          size_t record_length, size_t *run);
/** \{ As tables:
 *   runs: record, setting (row of settings), source, platform, framework,
 *     split, flag, devices, ran (1 or 0), iteration_time_s,
 *     peak_memory_bytes;
 *   settings, within which configurations are ranked: workload, source,
 *     platform, devices, runs, failed_runs.
 * @since 1 */
LMSB_API lmsb_code lmsb_measurements_runs(
    const lmsb_measurements *measurements, lmsb_table **out);
LMSB_API lmsb_code lmsb_measurements_settings(
    const lmsb_measurements *measurements, lmsb_table **out);
/** \} */

/** Called with the number of questions asked and their total, by one thread at a
 * time. Anything but 0 stops the call that it was given to, which returns
 * LMSB_CANCELLED. */
typedef int32_t (*lmsb_progress)(void *user, size_t done, size_t total);

/** Which runs are meant. Texts are UTF-8 with a NUL; NULL or "": every
 * one, but of the splits only "test". */
typedef struct lmsb_selection {
  size_t struct_size;
  const char *split; /**< "test" or "fit"; NULL: "test" */
  const char *source;
  const char *platform;
} lmsb_selection;

/** Asks a cost model about the measured rows of a view ("gemms", "operators",
 * "collectives") and sets what it says beside what was measured. One row for
 * each that asks something and is not flagged as doubtful:
 *   row (of the view), source, platform, split, category ("matmul bf16",
 *   "all_reduce in a node"), shape, measured_s, predicted_s (NaN: not
 *   answered), evidence, refusal ("" where it refuses nothing).
 * A failure of the model is an error that names the row. LMSB_NOT_FOUND if the
 * selection names a source, platform or split that the view has no row of, or
 * leaves nothing to ask.
 * @since 2 */
LMSB_API lmsb_code lmsb_cost_model_measured(const lmsb_cost_model *model,
                                            const lmsb_bundle *bundle,
                                            const char *view,
                                            size_t view_length,
                                            const lmsb_selection *selection,
                                            lmsb_table **out);

/** How to ask. */
typedef struct lmsb_ask_options {
  size_t struct_size;
  const lmsb_selection *selection; /**< NULL: the split "test" */
  /** 1: also the runs of `fit` on the platforms selected, which calibrated
   * errors need. */
  int32_t calibration_runs;
  /** Threads to ask with, 1 or more. A simulator of callbacks that is not
   * declared thread_safe is asked by one. */
  int32_t threads;
  lmsb_progress progress; /**< NULL: none */
  void *progress_user;
} lmsb_ask_options;

/** Asks a simulator about the runs selected. What it refuses or fails at is an
 * answer, not an error of this call. `options` may be NULL.
 * @since 1 */
LMSB_API lmsb_code lmsb_answers_ask(lmsb_answers **out,
                                    const lmsb_simulator *simulator,
                                    const lmsb_measurements *measurements,
                                    const lmsb_ask_options *options);
/** Answers to be put in one by one; none is there yet.
 * @since 1 */
LMSB_API lmsb_code lmsb_answers_new(lmsb_answers **out, const char *name,
                                    size_t name_length,
                                    const lmsb_measurements *measurements);
/** Verdicts. */
enum {
  LMSB_VERDICT_NOT_ANSWERED = 0,
  LMSB_VERDICT_FITS = 1,
  LMSB_VERDICT_DOES_NOT_FIT = 2,
  LMSB_VERDICT_ILLEGAL = 3
};
/** Columns of predictions, `count` entries each. */
typedef struct lmsb_answer_columns {
  size_t struct_size;
  size_t count;
  const char *const *records; /**< record ids, UTF-8 with a NUL */
  /** NaN: not answered. May be NULL: not answered at all. */
  const double *iteration_time_s;
  const double *peak_memory_bytes;
  const int32_t *verdicts; /**< LMSB_VERDICT_*; may be NULL */
  /** Reason of each refusal, NULL or "" where it is none; such a row answers
   * nothing else. May be NULL. */
  const char *const *refusals;
} lmsb_answer_columns;
/** Puts in a table of predictions, without any callback. LMSB_NOT_FOUND, and
 * nothing is put in, if a record is unknown; LMSB_INVALID_ARGUMENT if a figure
 * is out of range or a record is answered twice.
 * @since 1 */
LMSB_API lmsb_code lmsb_answers_put(lmsb_answers *answers,
                                    const lmsb_answer_columns *columns);
/** Reads a table of predictions from a CSV file: record_id, predicted_ms,
 * predicted_mem_gib, verdict, notes. With a column `simulator` the lines of
 * `name` count.
 * @since 1 */
LMSB_API lmsb_code lmsb_answers_read_csv(lmsb_answers **out, const char *path,
                                         size_t path_length, const char *name,
                                         size_t name_length,
                                         const lmsb_measurements *measurements);
LMSB_API void lmsb_answers_free(lmsb_answers *answers);
/** As a table: record, status ("answered", "refused", "failed", "timed out",
 * "missing"), iteration_time_s, peak_memory_bytes, verdict, notes; one row a
 * run of the measurements.
 * @since 1 */
LMSB_API lmsb_code lmsb_answers_table(const lmsb_answers *answers,
                                      lmsb_table **out);

/** What to score, and the choices that the definitions leave open. */
typedef struct lmsb_score_options {
  size_t struct_size;
  const lmsb_selection *selection; /**< NULL: the split "test" */
  /** A configuration fits where its predicted peak, raised by this fraction, is
   * at most the device's memory. */
  double memory_margin;
  /** Cost of a configuration said to fit that fails, and of one refused that
   * runs. */
  double false_fit_cost;
  double false_refusal_cost;
} lmsb_score_options;

/** Scores what simulators said of the same measurements. `options` NULL: no
 * margin, costs of 5 and 1.
 * @since 1 */
LMSB_API lmsb_code lmsb_score(lmsb_scorecard **out,
                              const lmsb_measurements *measurements,
                              const lmsb_answers *const *answers,
                              size_t answer_count,
                              const lmsb_score_options *options);
LMSB_API void lmsb_scorecard_free(lmsb_scorecard *card);
/** One figure: "gmae", "regret@1", ... of a source ("ALL": every row together)
 * and a subset of rows ("headline"). `shared` 1: on the runs that every
 * simulator answered. NaN if it is undefined or not there.
 * @since 1 */
LMSB_API lmsb_code lmsb_scorecard_figure(const lmsb_scorecard *card,
                                         const char *simulator,
                                         size_t simulator_length,
                                         const char *source,
                                         size_t source_length,
                                         const char *subset,
                                         size_t subset_length,
                                         const char *metric,
                                         size_t metric_length, int32_t shared,
                                         double *value);
/** \{ As tables:
 *   figures: simulator, shared (1 or 0), source, subset, metric, value, rows,
 *     settings_defined, settings_excluded;
 *   settings: simulator, workload, source, platform, model, devices, rows,
 *     configurations, answered, and one column a figure;
 *   calibration: simulator, platform, factor, rows.
 * @since 1 */
LMSB_API lmsb_code lmsb_scorecard_figures(const lmsb_scorecard *card,
                                          lmsb_table **out);
LMSB_API lmsb_code lmsb_scorecard_settings(const lmsb_scorecard *card,
                                           lmsb_table **out);
LMSB_API lmsb_code lmsb_scorecard_calibration(const lmsb_scorecard *card,
                                              lmsb_table **out);
/** \} */
/** The whole card as JSON, and as text for a terminal of 120 columns.
 * @since 1 */
LMSB_API lmsb_code lmsb_scorecard_to_json(const lmsb_scorecard *card,
                                          lmsb_text **out);
LMSB_API lmsb_code lmsb_scorecard_to_text(const lmsb_scorecard *card,
                                          lmsb_text **out);
/** What margins would do to the verdicts, on runs of the split `fit`. As a
 * table: margin, cost_score, false_fit, false_refusal. `options` as for
 * lmsb_score.
 * @since 1 */
LMSB_API lmsb_code lmsb_sweep_margin(const lmsb_measurements *measurements,
                                     const lmsb_answers *answers,
                                     const double *margins,
                                     size_t margin_count,
                                     const lmsb_score_options *options,
                                     lmsb_table **out);

/* ----------------------------------------------------------- conformance -- */

/** \{ Runs a plug-in through questions of every kind, edge cases among them, and
 * says in words what it gets wrong, one fault a line with a question that shows
 * it: an answer that is NaN, negative, infinite, or off by a factor of 1,000 or
 * more from what is plausible (a wrong unit); evidence that is none; parts that
 * do not sum to the whole; a verdict that contradicts the memory; an error
 * without a text, or a code that is none; an exception; writing outside of the
 * arrays; a struct of the wrong size; answers that depend on the size of the
 * batch, on how its columns lie, on the order, on repetition, or, where
 * thread_safe is declared, on other threads.
 * LMSB_OK and an empty text if there is no fault, LMSB_FAILED_PRECONDITION with
 * the report in `out` if there is one; any other code, with NULL in `out`, if
 * the check could not be run. Does not call destroy. What it cannot see: a
 * function that never returns, a data race that changes no answer, a wild
 * pointer.
 * @since 1 */
LMSB_API lmsb_code lmsb_cost_model_check(
    lmsb_text **out, const lmsb_bundle *bundle,
    const lmsb_cost_model_functions *functions);
LMSB_API lmsb_code lmsb_simulator_check(
    lmsb_text **out, const lmsb_bundle *bundle,
    const lmsb_simulator_functions *functions);
/** \} */

/* --------------------------------------------------------------- plug-ins -- */

/** What the host offers to a plug-in that it has loaded, so that the plug-in
 * links nothing: each function is the one of the same name above. Only ever
 * grows at the end; a plug-in that needs a function checks that struct_size
 * covers it. */
typedef struct lmsb_host {
  size_t struct_size;
  uint32_t abi_version;
  uint32_t reserved; /**< 0 */
  const char *(*last_error)(void);
  void (*error_set)(lmsb_error *error, const char *text, size_t text_length);
  lmsb_code (*workload_f64)(const lmsb_workload *workload, const char *field,
                            size_t field_length, double *value);
  lmsb_code (*workload_i64)(const lmsb_workload *workload, const char *field,
                            size_t field_length, int64_t *value);
  lmsb_code (*workload_text)(const lmsb_workload *workload, const char *field,
                             size_t field_length, const char **value);
  lmsb_code (*workload_count)(const lmsb_workload *workload, const char *field,
                              size_t field_length, size_t *count);
  lmsb_code (*workload_to_json)(const lmsb_workload *workload, lmsb_text **out);
  lmsb_code (*system_f64)(const lmsb_system *system, const char *field,
                          size_t field_length, double *value);
  lmsb_code (*system_i64)(const lmsb_system *system, const char *field,
                          size_t field_length, int64_t *value);
  lmsb_code (*system_text)(const lmsb_system *system, const char *field,
                           size_t field_length, const char **value);
  lmsb_code (*system_count)(const lmsb_system *system, const char *field,
                            size_t field_length, size_t *count);
  lmsb_code (*system_to_json)(const lmsb_system *system, lmsb_text **out);
  lmsb_code (*config_f64)(const lmsb_config *config, const char *field,
                          size_t field_length, double *value);
  lmsb_code (*config_i64)(const lmsb_config *config, const char *field,
                          size_t field_length, int64_t *value);
  lmsb_code (*config_text)(const lmsb_config *config, const char *field,
                           size_t field_length, const char **value);
  lmsb_code (*config_count)(const lmsb_config *config, const char *field,
                            size_t field_length, size_t *count);
  lmsb_code (*config_to_json)(const lmsb_config *config, lmsb_text **out);
  lmsb_code (*prediction_set_f64)(lmsb_prediction *prediction,
                                  const char *field, size_t field_length,
                                  double value);
  lmsb_code (*prediction_set_i64)(lmsb_prediction *prediction,
                                  const char *field, size_t field_length,
                                  int64_t value);
  lmsb_code (*prediction_set_text)(lmsb_prediction *prediction,
                                   const char *field, size_t field_length,
                                   const char *value, size_t value_length);
  lmsb_code (*prediction_set_json)(lmsb_prediction *prediction,
                                   const char *field, size_t field_length,
                                   const char *json, size_t json_length);
  const char *(*text_data)(const lmsb_text *text);
  size_t (*text_length)(const lmsb_text *text);
  void (*text_free)(lmsb_text *text);
} lmsb_host;

/** What a plug-in offers. Arrives with struct_size set and the rest 0; the
 * plug-in points to what it is, one of the two or both. What it points to has
 * to stay as it is while the plug-in is loaded. */
typedef struct lmsb_plugin {
  size_t struct_size;
  const lmsb_simulator_functions *simulator;
  /** Runs through the five stages, under its own name. */
  const lmsb_cost_model_functions *cost_model;
} lmsb_plugin;

/** The one symbol of a plug-in is "lmsb_plugin_open", a function of this type.
 * The host's table lives as long as the plug-in is loaded. Anything but LMSB_OK
 * refuses to be loaded, with the reason as the text of the error. */
typedef lmsb_code (*lmsb_plugin_open_function)(const lmsb_host *host,
                                               lmsb_plugin *plugin,
                                               lmsb_error *error);

/** The table that this library offers to plug-ins. Lives for ever.
 * @since 1 */
LMSB_API const lmsb_host *lmsb_host_table(void);

/** Loads a plug-in and makes its simulator, or the five stages with its cost
 * model. It stays loaded as long as the simulator.
 * @since 1 */
LMSB_API lmsb_code lmsb_simulator_load(lmsb_simulator **out, const char *path,
                                       size_t path_length);

#ifdef __cplusplus
}
#endif

#endif /* LMSIMBENCH_C_H_ */
