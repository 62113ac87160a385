package dev.pipewright.runtime.engine;

/**
 * The segments of a stage whose parameters are gathered on this worker. All workers of the stage
 * gather them in the same order.
 */
interface GatheredParameters {
  /** They always are. */
  GatheredParameters ALWAYS =
      new GatheredParameters() {
        @Override
        public void ahead(int segment) {
          // it is there
        }

        @Override
        public void need(int segment) {
          // it is there
        }

        @Override
        public void leave(int segment) {
          // it stays
        }
      };

  /** A segment's will be needed next; there may be no such segment. */
  void ahead(int segment);

  /** Returns when a segment's are here. */
  void need(int segment);

  /** Nobody computes with a segment's any more until they are needed again. */
  void leave(int segment);
}
