package dev.pipewright.app.cli.sweep;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;

/** Plans points as {@code plan} does; many threads ask at the same time. */
public interface SweepPlanner {
  /** Throws {@link BadInputException} where the flags of a point cannot be read. */
  void check(SweepPoint point);

  /** The answer; also why there is none. */
  SweepResult plan(SweepPoint point);
}
