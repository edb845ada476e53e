/*
 * The interface as a program in C uses it, from the measurements to a scorecard.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lmsimbench/c.h"

#define FIELD(name) (name), (sizeof(name) - 1)

static int failures = 0;

static void expect(int holds, const char *what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: %s; last error: %s\n", line, what,
          lmsb_last_error());
  ++failures;
}
#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)
#define NEED(call)                                                \
  do {                                                            \
    if ((call) != LMSB_OK) {                                      \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call,       \
              lmsb_last_error());                                 \
      exit(1);                                                    \
    }                                                             \
  } while (0)

static const lmsb_column *column_of(const lmsb_view *view, const char *name) {
  const lmsb_column *column = NULL;
  NEED(lmsb_view_column(view, name, strlen(name), &column));
  return column;
}

static void views_are_columns(const lmsb_bundle *bundle) {
  static const char *const six[] = {"iterations", "memory",      "ranks",
                                    "operators",  "collectives", "gemms"};
  size_t i;
  for (i = 0; i < sizeof(six) / sizeof(six[0]); ++i) {
    const lmsb_view *view = NULL;
    size_t c;
    NEED(lmsb_bundle_view(bundle, six[i], strlen(six[i]), &view));
    EXPECT(lmsb_view_rows(view) > 0);
    for (c = 0; c < lmsb_view_column_count(view); ++c) {
      const lmsb_column *column = lmsb_view_column_at(view, c);
      const double *numbers = NULL;
      const int64_t *counts = NULL;
      const uint32_t *strings = NULL;
      size_t count = 0;
      switch (lmsb_column_type(column)) {
        case LMSB_COLUMN_F64:
          NEED(lmsb_column_f64(column, &numbers, &count));
          EXPECT(lmsb_column_i64(column, &counts, &count) ==
                 LMSB_INVALID_ARGUMENT);
          NEED(lmsb_column_f64(column, &numbers, &count));
          break;
        case LMSB_COLUMN_I64:
          NEED(lmsb_column_i64(column, &counts, &count));
          break;
        default:
          NEED(lmsb_column_strings(column, &strings, &count));
          EXPECT(lmsb_column_string(column, strings[0], NULL) != NULL);
          EXPECT(lmsb_column_string(column, UINT32_MAX, NULL) == NULL);
      }
      EXPECT(count == lmsb_view_rows(view));
    }
    EXPECT(lmsb_view_column_at(view, c) == NULL);
  }
  {
    const lmsb_view *view = NULL;
    const lmsb_column *column = NULL;
    EXPECT(lmsb_bundle_view(bundle, FIELD("gemm"), &view) == LMSB_NOT_FOUND);
    EXPECT(strstr(lmsb_last_error(), "gemms") != NULL);
    NEED(lmsb_bundle_view(bundle, FIELD("gemms"), &view));
    EXPECT(lmsb_view_column(view, FIELD("platfrm"), &column) == LMSB_NOT_FOUND);
    EXPECT(strstr(lmsb_last_error(), "'platform'") != NULL);
  }
}

static void fields_are_read_and_written(void) {
  lmsb_config *config = NULL;
  lmsb_system *system = NULL;
  lmsb_text *json = NULL;
  int64_t count = 0;
  double number = 0;
  const char *name = NULL;
  size_t length = 0;
  NEED(lmsb_config_new(&config));
  NEED(lmsb_config_set_i64(config, FIELD("tp"), 8));
  NEED(lmsb_config_i64(config, FIELD("tp"), &count));
  EXPECT(count == 8);
  NEED(lmsb_config_set_text(config, FIELD("schedule"), FIELD("1f1b")));
  NEED(lmsb_config_text(config, FIELD("schedule"), &name));
  EXPECT(strcmp(name, "1f1b") == 0);
  NEED(lmsb_config_set_i64(config, FIELD("sequence_parallel"), 1));
  NEED(lmsb_config_i64(config, FIELD("sequence_parallel"), &count));
  EXPECT(count == 1);
  NEED(lmsb_config_set_json(config, FIELD("stage_layers"), FIELD("[3,4]")));
  NEED(lmsb_config_count(config, FIELD("stage_layers"), &length));
  EXPECT(length == 2);
  NEED(lmsb_config_i64(config, FIELD("stage_layers[1]"), &count));
  EXPECT(count == 4);
  EXPECT(lmsb_config_i64(config, FIELD("stage_layers[2]"), &count) ==
         LMSB_NOT_FOUND);
  EXPECT(lmsb_config_i64(config, FIELD("stage_layers["), &count) ==
         LMSB_INVALID_ARGUMENT);
  EXPECT(lmsb_config_set_i64(config, FIELD("tpp"), 1) == LMSB_NOT_FOUND);
  EXPECT(strstr(lmsb_last_error(), "'tp'") != NULL);
  EXPECT(lmsb_config_set_f64(config, FIELD("tp"), 1.5) ==
         LMSB_INVALID_ARGUMENT);
  EXPECT(lmsb_config_set_i64(config, FIELD("tp"), -2) ==
         LMSB_INVALID_ARGUMENT);
  NEED(lmsb_config_to_json(config, &json));
  EXPECT(strstr(lmsb_text_data(json), "\"tp\":8") != NULL ||
         strstr(lmsb_text_data(json), "\"tp\": 8") != NULL);
  lmsb_config_free(config);
  NEED(lmsb_config_from_json(&config, lmsb_text_data(json),
                             lmsb_text_length(json)));
  NEED(lmsb_config_i64(config, FIELD("tp"), &count));
  EXPECT(count == 8);
  lmsb_text_free(json);
  lmsb_config_free(config);

  NEED(lmsb_system_new(&system));
  NEED(lmsb_system_set_f64(system, FIELD("accelerator.memory_bytes"), 8e10));
  NEED(lmsb_system_f64(system, FIELD("accelerator.memory_bytes"), &number));
  EXPECT(number == 8e10);
  EXPECT(lmsb_system_set_f64(system, FIELD("accelerator.memory_bytes"),
                             HUGE_VAL) == LMSB_INVALID_ARGUMENT);
  lmsb_system_free(system);
}

/* One microsecond for what it knows; collectives it leaves to another. */
static lmsb_code one_microsecond(void *user, const lmsb_system *system,
                                 const lmsb_operator_batch *operators,
                                 double *seconds, int32_t *evidence,
                                 lmsb_error *error) {
  size_t i;
  double memory = 0;
  (void)error;
  if (lmsb_system_f64(system, FIELD("accelerator.memory_bytes"), &memory) !=
      LMSB_OK) {
    return LMSB_INTERNAL;
  }
  for (i = 0; i < operators->count; ++i) {
    if (LMSB_U8(operators->kind, i) == LMSB_OPERATOR_NOT_STATED) continue;
    seconds[i] = 1.0 / (1 << 20);
    evidence[i] = LMSB_EVIDENCE_ANALYTIC;
    ++*(size_t *)user;
  }
  return LMSB_OK;
}

static int destroyed = 0;
static void count_destroyed(void *user) {
  (void)user;
  ++destroyed;
}

static void a_cost_model_runs_through_the_pipeline(const lmsb_bundle *bundle) {
  size_t asked = 0;
  lmsb_cost_model_functions functions;
  lmsb_cost_model *mine = NULL;
  lmsb_cost_model *formulas = NULL;
  lmsb_cost_model *both = NULL;
  const lmsb_cost_model *parts[2];
  lmsb_workload *workload = NULL;
  lmsb_system *system = NULL;
  lmsb_config *config = NULL;
  lmsb_graph *graph = NULL;
  lmsb_timeline *timeline = NULL;
  lmsb_simulator *simulator = NULL;
  lmsb_workspace *workspace = NULL;
  lmsb_prediction *prediction = NULL;
  lmsb_table *tasks = NULL;
  lmsb_table *slices = NULL;
  lmsb_text *json = NULL;
  const lmsb_operator_batch *batch;
  double *seconds;
  int32_t *evidence;
  double time = 0;
  size_t ranks = 0;
  int round;

  memset(&functions, 0, sizeof(functions));
  functions.struct_size = sizeof(functions);
  functions.user = &asked;
  functions.name = "one microsecond";
  functions.operator_costs = one_microsecond;
  functions.destroy = count_destroyed;
  NEED(lmsb_cost_model_new(&mine, &functions));
  EXPECT(strcmp(lmsb_cost_model_name(mine), "one microsecond") == 0);
  NEED(lmsb_cost_model_built_in(&formulas, bundle, FIELD("collectives")));
  parts[0] = mine;
  parts[1] = formulas;
  NEED(lmsb_cost_model_composite(&both, FIELD("both"), parts, 2));
  lmsb_cost_model_free(mine);
  lmsb_cost_model_free(formulas);
  EXPECT(destroyed == 0);

  NEED(lmsb_workload_new(&workload));
  NEED(lmsb_workload_set_json(
      workload, FIELD("model"),
      FIELD("{\"hidden\":4096,\"layers\":32,\"heads\":32,\"ffn\":11008,"
            "\"vocab\":32000,\"gated_mlp\":true}")));
  NEED(lmsb_workload_set_i64(workload, FIELD("seq_len"), 4096));
  NEED(lmsb_workload_set_i64(workload, FIELD("global_batch"), 64));
  NEED(lmsb_workload_set_text(workload, FIELD("precision"), FIELD("bf16")));
  NEED(lmsb_system_find(&system, bundle, FIELD("a100-sxm4-80g")));
  NEED(lmsb_config_new(&config));
  NEED(lmsb_config_set_i64(config, FIELD("tp"), 4));
  NEED(lmsb_config_set_i64(config, FIELD("pp"), 2));
  NEED(lmsb_config_set_i64(config, FIELD("dp"), 2));
  NEED(lmsb_config_set_i64(config, FIELD("micro_batch"), 1));
  NEED(lmsb_config_check(config, workload, -1));

  NEED(lmsb_graph_new(&graph, workload, system, config));
  batch = lmsb_graph_operator_batch(graph);
  EXPECT(batch != NULL && batch->count > 5);
  seconds = (double *)malloc(batch->count * sizeof(double));
  evidence = (int32_t *)malloc(batch->count * sizeof(int32_t));
  NEED(lmsb_cost_model_operators(both, system, batch, seconds, evidence));
  EXPECT(asked == batch->count);
  EXPECT(seconds[0] == 1.0 / (1 << 20));
  EXPECT(evidence[0] == LMSB_EVIDENCE_ANALYTIC);
  free(seconds);
  free(evidence);
  NEED(lmsb_graph_tasks(graph, &tasks));
  EXPECT(lmsb_view_rows(lmsb_table_view(tasks)) > 100);
  NEED(lmsb_timeline_new(&timeline, graph, both));
  NEED(lmsb_timeline_slices(timeline, &slices));
  EXPECT(lmsb_view_rows(lmsb_table_view(slices)) ==
         lmsb_view_rows(lmsb_table_view(tasks)));
  NEED(lmsb_timeline_to_perfetto(timeline, &json));
  EXPECT(lmsb_text_length(json) > 1000);

  NEED(lmsb_simulator_staged(&simulator, FIELD("mine"), both));
  lmsb_cost_model_free(both);
  NEED(lmsb_workspace_new(&workspace));
  NEED(lmsb_prediction_new(&prediction));
  for (round = 0; round < 2; ++round) {
    NEED(lmsb_simulator_predict(simulator, workload, system, config, workspace,
                                prediction));
    NEED(lmsb_prediction_f64(prediction, FIELD("iteration_time_s"), &time));
    EXPECT(time == lmsb_timeline_iteration_time_s(timeline));
    NEED(lmsb_prediction_count(prediction, FIELD("ranks"), &ranks));
    EXPECT(ranks == 2);
  }
  EXPECT(destroyed == 0);
  lmsb_simulator_free(simulator);
  EXPECT(destroyed == 1);

  /* An illegal question: the rule, in words. */
  NEED(lmsb_config_set_i64(config, FIELD("tp"), 5));
  EXPECT(lmsb_config_check(config, workload, -1) == LMSB_INVALID_ARGUMENT);
  EXPECT(strstr(lmsb_last_error(), "32 attention heads") != NULL);

  lmsb_text_free(json);
  lmsb_table_free(slices);
  lmsb_table_free(tasks);
  lmsb_timeline_free(timeline);
  lmsb_graph_free(graph);
  lmsb_prediction_free(prediction);
  lmsb_workspace_free(workspace);
  lmsb_config_free(config);
  lmsb_system_free(system);
  lmsb_workload_free(workload);
}

/* A simulator that says one second for every dense model. */
static lmsb_code one_second(void *user, const lmsb_workload *workload,
                            const lmsb_system *system,
                            const lmsb_config *config,
                            lmsb_prediction *prediction, lmsb_error *error) {
  static const char reason[] = "no mixture of experts";
  int64_t experts = 0;
  (void)user;
  (void)system;
  (void)config;
  if (lmsb_workload_i64(workload, FIELD("model.experts"), &experts) !=
      LMSB_OK) {
    return LMSB_INTERNAL;
  }
  if (experts > 0) {
    lmsb_error_set(error, FIELD(reason));
    return LMSB_UNIMPLEMENTED;
  }
  return lmsb_prediction_set_f64(prediction, FIELD("iteration_time_s"), 1);
}

static int32_t stop_after_three(void *user, size_t done, size_t total) {
  (void)user;
  (void)total;
  return done >= 3;
}

/* Compares built-in tables with what was measured: as a unit test does. */
static void a_cost_model_meets_measurements(const lmsb_bundle *bundle) {
  lmsb_cost_model *tables = NULL;
  lmsb_table *table = NULL;
  lmsb_selection selection;
  const lmsb_view *view;
  const double *measured = NULL;
  const double *predicted = NULL;
  size_t rows = 0;
  size_t answered = 0;
  double log_error = 0;
  size_t i;

  NEED(lmsb_cost_model_built_in(&tables, bundle, FIELD("default")));
  memset(&selection, 0, sizeof(selection));
  selection.struct_size = sizeof(selection);
  selection.platform = "a100-sxm4-80g";
  NEED(lmsb_cost_model_measured(tables, bundle, FIELD("gemms"), &selection,
                                &table));
  view = lmsb_table_view(table);
  NEED(lmsb_column_f64(column_of(view, "measured_s"), &measured, &rows));
  NEED(lmsb_column_f64(column_of(view, "predicted_s"), &predicted, &rows));
  for (i = 0; i < rows; ++i) {
    if (predicted[i] != predicted[i]) continue;
    ++answered;
    log_error += fabs(log(predicted[i] / measured[i]));
  }
  EXPECT(rows > 100 && answered == rows);
  EXPECT(exp(log_error / (double)answered) < 1.3);
  EXPECT(lmsb_view_column_count(view) == 10);
  lmsb_table_free(table);

  EXPECT(lmsb_cost_model_measured(tables, bundle, FIELD("ranks"), &selection,
                                  &table) == LMSB_INVALID_ARGUMENT);
  selection.platform = "a100-sxm4-80gb";
  EXPECT(lmsb_cost_model_measured(tables, bundle, FIELD("gemms"), &selection,
                                  &table) == LMSB_NOT_FOUND);
  EXPECT(table == NULL && strstr(lmsb_last_error(), "a100-sxm4-80g") != NULL);
  lmsb_cost_model_free(tables);
}

static void enumerators_have_names(void) {
  EXPECT(strcmp(lmsb_enumerator_name(FIELD("operator"), LMSB_OPERATOR_NORM),
                "norm") == 0);
  EXPECT(strcmp(lmsb_enumerator_name(FIELD("verdict"),
                                     LMSB_VERDICT_DOES_NOT_FIT),
                "does not fit") == 0);
  EXPECT(lmsb_enumerator_name(FIELD("group"), 99) == NULL);
  EXPECT(lmsb_enumerator_name(FIELD("group"), -1) == NULL);
  EXPECT(lmsb_enumerator_name(FIELD("grou"), 0) == NULL);
}

static void simulators_are_scored(const lmsb_bundle *bundle) {
  lmsb_simulator_functions functions;
  lmsb_simulator *mine = NULL;
  lmsb_simulator *calculon = NULL;
  lmsb_measurements *measurements = NULL;
  lmsb_answers *answers[3] = {NULL, NULL, NULL};
  lmsb_answers *stopped = NULL;
  lmsb_scorecard *card = NULL;
  lmsb_ask_options options;
  lmsb_answer_columns columns;
  lmsb_table *figures = NULL;
  lmsb_table *margins = NULL;
  lmsb_table *runs = NULL;
  lmsb_text *text = NULL;
  const double steps[] = {0, 0.1};
  const char *records[2];
  const double times[2] = {1.5, 2.5};
  double value = 0;
  size_t run = 0;
  lmsb_code code;

  memset(&functions, 0, sizeof(functions));
  functions.struct_size = sizeof(functions);
  functions.name = "one second";
  functions.predict = one_second;
  functions.destroy = count_destroyed;
  NEED(lmsb_simulator_new(&mine, &functions));
  NEED(lmsb_simulator_built_in(&calculon, bundle, FIELD("calculon")));
  NEED(lmsb_measurements_open(&measurements, bundle));
  NEED(lmsb_measurements_runs(measurements, &runs));
  EXPECT(lmsb_view_rows(lmsb_table_view(runs)) ==
         lmsb_measurements_run_count(measurements));
  EXPECT(lmsb_column_type(column_of(lmsb_table_view(runs), "record")) ==
         LMSB_COLUMN_STRING);

  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.threads = 4;
  options.progress = stop_after_three;
  code = lmsb_answers_ask(&stopped, mine, measurements, &options);
  EXPECT(code == LMSB_CANCELLED && stopped == NULL);

  NEED(lmsb_answers_ask(&answers[0], mine, measurements, NULL));
  NEED(lmsb_answers_ask(&answers[1], calculon, measurements, NULL));
  NEED(lmsb_answers_new(&answers[2], FIELD("table"), measurements));
  NEED(lmsb_measurements_find(measurements, FIELD("korthikanti22-0006"), &run));
  EXPECT(strcmp(lmsb_measurements_record(measurements, run),
                "korthikanti22-0006") == 0);
  EXPECT(lmsb_measurements_find(measurements, FIELD("korthikanti22-000"),
                                &run) == LMSB_NOT_FOUND);
  EXPECT(strstr(lmsb_last_error(), "korthikanti22-000") != NULL);
  records[0] = lmsb_measurements_record(measurements, 0);
  records[1] = lmsb_measurements_record(measurements, 1);
  memset(&columns, 0, sizeof(columns));
  columns.struct_size = sizeof(columns);
  columns.count = 2;
  columns.records = records;
  columns.iteration_time_s = times;
  NEED(lmsb_answers_put(answers[2], &columns));
  EXPECT(lmsb_answers_put(answers[2], &columns) == LMSB_INVALID_ARGUMENT);
  EXPECT(strstr(lmsb_last_error(), "answered twice") != NULL);

  NEED(lmsb_score(&card, measurements, (const lmsb_answers *const *)answers, 3,
                  NULL));
  NEED(lmsb_scorecard_figure(card, FIELD("one second"), FIELD("ALL"),
                             FIELD("headline"), FIELD("gmae"), 0, &value));
  EXPECT(value > 0);
  EXPECT(lmsb_scorecard_figure(card, FIELD("calculo"), FIELD("ALL"),
                               FIELD("headline"), FIELD("gmae"), 0,
                               &value) == LMSB_NOT_FOUND);
  NEED(lmsb_scorecard_figures(card, &figures));
  EXPECT(lmsb_view_rows(lmsb_table_view(figures)) > 10);
  NEED(lmsb_scorecard_to_json(card, &text));
  EXPECT(lmsb_text_data(text)[0] == '{');
  NEED(lmsb_sweep_margin(measurements, answers[1], steps, 2, NULL, &margins));
  EXPECT(lmsb_view_rows(lmsb_table_view(margins)) == 2);

  lmsb_table_free(runs);
  lmsb_table_free(margins);
  lmsb_table_free(figures);
  lmsb_text_free(text);
  lmsb_scorecard_free(card);
  lmsb_answers_free(answers[0]);
  lmsb_answers_free(answers[1]);
  lmsb_answers_free(answers[2]);
  lmsb_measurements_free(measurements);
  lmsb_simulator_free(calculon);
  lmsb_simulator_free(mine);
  EXPECT(destroyed == 2);
}

int main(void) {
  lmsb_bundle *bundle = NULL;
  EXPECT(lmsb_abi_version() == LMSB_ABI_VERSION);
  EXPECT(strcmp(lmsb_last_error(), "") == 0);
  NEED(lmsb_bundle_open_embedded(&bundle));
  EXPECT(strlen(lmsb_bundle_fingerprint(bundle)) == 16);
  views_are_columns(bundle);
  fields_are_read_and_written();
  a_cost_model_runs_through_the_pipeline(bundle);
  a_cost_model_meets_measurements(bundle);
  enumerators_have_names();
  simulators_are_scored(bundle);
  lmsb_bundle_free(bundle);
  lmsb_bundle_free(NULL);
  return failures == 0 ? 0 : 1;
}
