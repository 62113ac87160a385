package dev.pipewright.predict.transformer.search;

/**
 * How many layouts a search met.
 *
 * @param valid layouts of the space
 * @param unfit those that do not fit into the memory; of a pruned search those that it met
 * @param pruned those that a bound excluded
 */
public record SearchCount(long valid, long unfit, long pruned) {
  static final SearchCount NONE = new SearchCount(0, 0, 0);

  SearchCount plus(SearchCount that) {
    return new SearchCount(valid + that.valid, unfit + that.unfit, pruned + that.pruned);
  }

  /** Those whose seconds and bytes were evaluated. */
  public long evaluated() {
    return valid - pruned;
  }
}
