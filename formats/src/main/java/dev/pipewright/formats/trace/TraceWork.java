package dev.pipewright.formats.trace;

import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A piece of work of a rank's stream.
 *
 * @param step from 0, of those that the trace has; -1 outside of all
 * @param stream its number among the rank's streams
 * @param layer its number among the rank's layers; -1 where that is not known
 * @param start in seconds from the trace's first event
 * @param bytes of a collective, where they are known; 0 otherwise
 * @param group devices of a collective, where they are known; 0 otherwise
 */
record TraceWork(
    int step,
    int stream,
    Type type,
    int layer,
    double start,
    double end,
    String name,
    long bytes,
    int group) {

  /** What it does. */
  enum Type {
    FORWARD,
    BACKWARD,
    UPDATE,
    COMMUNICATION,
    COPY
  }

  private static final List<String> LIBRARIES =
      List.of("nccl", "rccl", "gloo:", "c10d::", "msccl", "oneccl");

  double seconds() {
    return end - start;
  }

  boolean computes() {
    return type != Type.COMMUNICATION && type != Type.COPY;
  }

  /** Whether a name is that of a kernel, or an operator, that communicates. */
  static boolean communicates(String name) {
    String small = name.toLowerCase(Locale.ROOT);
    return LIBRARIES.stream().anyMatch(small::contains);
  }

  /** The same where the bytes are an input's: an all-gather's size is that of its result. */
  TraceWork gathered() {
    return type == Type.COMMUNICATION && collective().filter(Kind.ALL_GATHER::equals).isPresent()
        ? new TraceWork(step, stream, type, layer, start, end, name, bytes * group, group)
        : this;
  }

  /** What a collective exchanges, by the name of its kernel. */
  Optional<Kind> collective() {
    String letters = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "");
    if (letters.contains("allreduce")) {
      return Optional.of(Kind.ALL_REDUCE);
    }
    if (letters.contains("allgather")) {
      return Optional.of(Kind.ALL_GATHER);
    }
    if (letters.contains("reducescatter")) {
      return Optional.of(Kind.REDUCE_SCATTER);
    }
    if (letters.contains("alltoall")) {
      return Optional.of(Kind.ALL_TO_ALL);
    }
    if (letters.contains("broadcast")) {
      return Optional.of(Kind.BROADCAST);
    }
    return Optional.empty();
  }
}
