/* A stranger's program: how many measurements the library holds. */
#include <stdio.h>

#include <lmsimbench/c.h>

int main(void) {
  lmsb_bundle *bundle = NULL;
  const lmsb_view *view = NULL;
  if (lmsb_bundle_open_embedded(&bundle) != LMSB_OK ||
      lmsb_bundle_view(bundle, "iterations", 10, &view) != LMSB_OK) {
    fprintf(stderr, "%s\n", lmsb_last_error());
    return 1;
  }
  printf("%zu iterations\n", lmsb_view_rows(view));
  lmsb_bundle_free(bundle);
  return 0;
}
