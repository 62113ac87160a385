package dev.pipewright.formats.export;

import java.util.Optional;

/** One limit of what a framework can say of plans. */
interface ExportRule {
  /** The part of a plan that passes the limit; empty where the framework can say it. */
  Optional<Gap> gap(ExportSubject plan);
}
