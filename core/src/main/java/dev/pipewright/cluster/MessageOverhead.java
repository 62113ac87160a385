package dev.pipewright.cluster;

import dev.pipewright.units.Check;

/**
 * What a message takes from the computing of each of its ends, where the processor that computes
 * also carries messages: the overhead o and the long messages' rate of it (A. Alexandrov et al.,
 * <i>LogGP</i>, SPAA 1995; R. Martin et al., <i>Effects of communication latency, overhead, and
 * bandwidth in a cluster architecture</i>, ISCA 1997).
 *
 * @param seconds of a message, whatever its size
 * @param secondsPerByte of it
 */
public record MessageOverhead(double seconds, double secondsPerByte) {
  /** Others carry messages. */
  public static final MessageOverhead NONE = new MessageOverhead(0, 0);

  public MessageOverhead {
    Check.amount(seconds, "overhead of a message");
    Check.amount(secondsPerByte, "overhead of a byte");
  }

  /** Of a message of so many bytes; none of no message. */
  public double of(double bytes) {
    return bytes == 0 ? 0 : seconds + bytes * secondsPerByte;
  }
}
