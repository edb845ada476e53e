/* A simulator behind the line protocol (README.md), in C99 without a library.

   The time of an iteration is the operations of the model at a fraction of the
   devices' peak, and the bubble of the pipeline. What that does not describe is
   refused by name. The same as simulator.py. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the peak: a round figure within what training runs reach, fitted on
   nothing. */
static const double kUtilisation = 0.4;

/* -- The fields of a JSON object ------------------------------------------ */

static const char *skip_blanks(const char *s) {
  return s + strspn(s, " \t\r\n");
}

/* From the opening quote to behind the closing one. */
static const char *skip_text(const char *s) {
  for (++s; *s != '"'; ++s) {
    if (*s == '\\' && s[1] != '\0') ++s;
    if (*s == '\0') return s;
  }
  return s + 1;
}

static const char *skip_value(const char *s) {
  int depth = 0;
  if (*s == '"') return skip_text(s);
  if (*s != '{' && *s != '[') return s + strcspn(s, ",]} \t\r\n");
  do {
    if (*s == '\0') return s;
    if (*s == '"') {
      s = skip_text(s);
      continue;
    }
    if (*s == '{' || *s == '[') ++depth;
    if (*s == '}' || *s == ']') --depth;
    ++s;
  } while (depth > 0);
  return s;
}

/* The value of this key in an object; NULL if there is none, or null. Keys of
   the protocol hold nothing that JSON writes with a backslash. */
static const char *field(const char *object, const char *key) {
  const size_t length = strlen(key);
  const char *s;
  if (object == NULL || *object != '{') return NULL;
  s = skip_blanks(object + 1);
  while (*s == '"') {
    const char *name = s + 1;
    int found;
    s = skip_text(s);
    found = (size_t)(s - name) == length + 1 && memcmp(name, key, length) == 0;
    s = skip_blanks(s);
    if (*s != ':') return NULL;
    s = skip_blanks(s + 1);
    if (found) return strncmp(s, "null", 4) == 0 ? NULL : s;
    s = skip_blanks(skip_value(s));
    if (*s != ',') return NULL;
    s = skip_blanks(s + 1);
  }
  return NULL;
}

/* The number of this key; `otherwise` if it is not stated. */
static double number(const char *object, const char *key, double otherwise) {
  const char *value = field(object, key);
  return value == NULL ? otherwise : strtod(value, NULL);
}

/* True if a value is this text. */
static int is(const char *value, const char *text) {
  const size_t length = strlen(text);
  return value != NULL && *value == '"' &&
         (size_t)(skip_text(value) - value) == length + 2 &&
         memcmp(value + 1, text, length) == 0;
}

/* What stands between a text's quotes. */
static int text_length(const char *value) {
  return *value == '"' ? (int)(skip_text(value) - value) - 2 : 0;
}

/* -- The model ------------------------------------------------------------ */

struct answer {
  double busy_s, bubble_s;
  int recompute_stated;
  char refusal[200]; /* empty: answered */
};

/* Keeps the first reason. */
static void refuse(struct answer *answer, const char *format, ...) {
  va_list arguments;
  if (answer->refusal[0] != '\0') return;
  va_start(arguments, format);
  vsnprintf(answer->refusal, sizeof answer->refusal, format, arguments);
  va_end(arguments);
}

static double stated(const char *object, const char *place, const char *key,
                     struct answer *answer) {
  const double value = number(object, key, NAN);
  if (isnan(value)) refuse(answer, "%s.%s is not stated", place, key);
  return value;
}

static int is_true(const char *value) {
  return value != NULL && strncmp(value, "true", 4) == 0;
}

static int is_false(const char *value) {
  return value != NULL && strncmp(value, "false", 5) == 0;
}

/* Of forward and backward pass, multiplications and additions. */
static double operations_per_token(const char *workload, const char *recompute,
                                   struct answer *answer) {
  static const char *const absent[][2] = {
      {"experts", "a mixture of experts"},
      {"sliding_window", "a sliding window"},
      {"mtp_layers", "multi-token prediction"}};
  const char *model = field(workload, "model");
  double hidden, heads, kv_heads, head_dim, matrices, seq_len;
  double queries, projections, mlp, core, layers, output, again;
  size_t i;

  for (i = 0; i < sizeof absent / sizeof absent[0]; ++i) {
    if (number(model, absent[i][0], 0) != 0) {
      refuse(answer, "%s is not modelled", absent[i][1]);
    }
  }
  if (is(field(model, "attention"), "mla")) {
    refuse(answer, "latent attention is not modelled");
  }

  hidden = stated(model, "model", "hidden", answer);
  heads = stated(model, "model", "heads", answer);
  kv_heads = stated(model, "model", "kv_heads", answer);
  head_dim = number(model, "head_dim", hidden / heads);
  if (field(model, "gated_mlp") == NULL) {
    refuse(answer, "model.gated_mlp is not stated");
  }
  matrices = is_true(field(model, "gated_mlp")) ? 3 : 2;
  seq_len = stated(workload, "workload", "seq_len", answer);

  /* Multiplications of one token in one layer, forward. */
  queries = heads * head_dim;
  projections = hidden * (queries + 2 * kv_heads * head_dim) + queries * hidden;
  mlp = matrices * hidden * stated(model, "model", "ffn", answer);
  /* Scores and values; a causal token sees half of the sequence on average. */
  core = seq_len * queries * (is_false(field(workload, "causal")) ? 2 : 1);
  layers = stated(model, "model", "layers", answer);
  output = hidden * stated(model, "model", "vocab", answer);

  /* The backward pass does the forward one's work twice; recomputation does a
     part of it once more. */
  again = 0;
  if (is(recompute, "selective")) {
    again = layers * core;
  } else if (is(recompute, "full")) {
    again = layers * (projections + mlp + core);
  } else if (recompute != NULL && !is(recompute, "none")) {
    refuse(answer, "recomputation of %.*s is not modelled",
           text_length(recompute), recompute + 1);
  }
  return 2 * (3 * (layers * (projections + mlp + core) + output) + again);
}

static double peak(const char *workload, const char *system,
                   struct answer *answer) {
  static const char *const peaks[][2] = {{"fp32", "fp32_flops"},
                                         {"tf32", "tf32_flops"},
                                         {"fp16", "fp16_flops"},
                                         {"bf16", "bf16_flops"},
                                         {"fp8", "fp8_flops"}};
  const char *precision = field(workload, "precision");
  size_t i;
  if (precision == NULL) {
    refuse(answer, "workload.precision is not stated");
    return NAN;
  }
  for (i = 0; i < sizeof peaks / sizeof peaks[0]; ++i) {
    if (is(precision, peaks[i][0])) {
      return stated(field(system, "accelerator"), "accelerator", peaks[i][1],
                    answer);
    }
  }
  refuse(answer, "precision %.*s is not modelled", text_length(precision),
         precision + 1);
  return NAN;
}

static void predict(const char *request, struct answer *answer) {
  const char *workload = field(request, "workload");
  const char *system = field(request, "system");
  const char *configuration = field(request, "configuration");
  const char *recompute = field(configuration, "recompute");
  const char *schedule = field(configuration, "schedule");
  const double flops = peak(workload, system, answer);
  const double devices = stated(system, "system", "devices", answer);
  const double seq_len = stated(workload, "workload", "seq_len", answer);
  const double batch = stated(workload, "workload", "global_batch", answer);
  const double pp = number(configuration, "pp", 1);

  answer->recompute_stated = recompute != NULL;
  answer->busy_s = operations_per_token(workload, recompute, answer) *
                   (seq_len * batch) / (kUtilisation * flops * devices);
  answer->bubble_s = 0;
  if (pp > 1) {
    double micro_batch, chunks;
    if (schedule != NULL && !is(schedule, "gpipe") && !is(schedule, "1f1b") &&
        !is(schedule, "interleaved")) {
      refuse(answer, "schedule %.*s is not modelled", text_length(schedule),
             schedule + 1);
    }
    micro_batch = stated(configuration, "configuration", "micro_batch", answer);
    chunks = stated(configuration, "configuration", "vpp", answer);
    answer->bubble_s =
        answer->busy_s * (pp - 1) /
        (batch / (number(configuration, "dp", 1) * micro_batch) * chunks);
  }
}

/* -- The lines ------------------------------------------------------------ */

/* The next line without its newline, in memory that the next call reuses; NULL
   at the end of the input. */
static char *read_line(void) {
  static char *line = NULL;
  static size_t room = 0;
  size_t length = 0;
  int c;
  while ((c = getchar()) != EOF) {
    if (length + 1 >= room) {
      room = room == 0 ? 4096 : 2 * room;
      line = realloc(line, room);
      if (line == NULL) exit(1);
    }
    if (c == '\n') {
      line[length] = '\0';
      return line;
    }
    line[length++] = (char)c;
  }
  return NULL;
}

static void write_answer(const char *id, const struct answer *answer) {
  printf("{\"id\": %.*s, ", (int)(skip_value(id) - id), id);
  if (answer->refusal[0] != '\0') {
    /* None of the reasons holds what JSON writes with a backslash. */
    printf("\"refused\": \"%s\"}\n", answer->refusal);
    return;
  }
  /* 17 digits are enough for every double. */
  printf("\"iteration_time_s\": %.17g, ", answer->busy_s + answer->bubble_s);
  printf("\"time\": {\"bubble_s\": %.17g, \"other_s\": %.17g}",
         answer->bubble_s, answer->busy_s);
  if (!answer->recompute_stated) {
    printf(", \"adaptations\": [\"recomputation is not stated: none\"]");
  }
  printf("}\n");
}

int main(void) {
  const char *line = read_line();
  if (line == NULL) return 1;
  if (number(skip_blanks(line), "protocol", 0) != 1) {
    printf("{\"protocol\": 1, \"failed\": \"speaks protocol 1 only\"}\n");
    return 1;
  }
  printf("{\"protocol\": 1, \"name\": \"peak-fraction\"}\n");
  /* A line has to leave at once. */
  fflush(stdout);
  while ((line = read_line()) != NULL) {
    const char *request = skip_blanks(line);
    const char *id = field(request, "id");
    struct answer answer = {0};
    if (id == NULL) return 1;
    predict(request, &answer);
    write_answer(id, &answer);
    fflush(stdout);
  }
  return 0;
}
