package dev.pipewright.app.cli.terminal;

import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends a search with the best plan so far: after the user's time limit, when the user interrupts
 * the program, or when a server's user cancels it. While it is open, an interrupt does not end the
 * program; afterwards the program has some seconds to print the result.
 */
public final class SearchDeadline implements BooleanSupplier, AutoCloseable {
  /** All that workers do ends within this time after an interrupt. */
  public static final int SECONDS_TO_STOP = 5;

  private static final int SECONDS_TO_PRINT = 20;
  private static final double MOST_SECONDS = 1e6;

  private static final AtomicInteger OPEN = new AtomicInteger(); // which hear of an interrupt

  /** What ends the searches that a thread begins. */
  private static final ThreadLocal<BooleanSupplier> CANCELLED =
      ThreadLocal.withInitial(() -> () -> false);

  private static volatile boolean interrupted;
  private static volatile boolean exiting;
  private static final CountDownLatch PRINTED = new CountDownLatch(1); // all about the interrupt

  private final long end; // of System.nanoTime
  private final boolean limited;
  private final int secondsToPrint;
  private final Thread hook = new Thread(this::interrupt, "interrupt");
  private final BooleanSupplier cancelled = CANCELLED.get();
  private boolean ended;

  /** Starts to count. */
  public SearchDeadline(OptionalDouble seconds) {
    this(seconds, SECONDS_TO_PRINT);
  }

  /**
   * Starts to count.
   *
   * @param secondsToPrint how long the program may go on after an interrupt
   */
  public SearchDeadline(OptionalDouble seconds, int secondsToPrint) {
    this(secondsToPrint, seconds);
    OPEN.incrementAndGet();
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private SearchDeadline(int secondsToPrint, OptionalDouble seconds) {
    this.secondsToPrint = secondsToPrint;
    limited = seconds.isPresent();
    end = System.nanoTime() + (long) (1e9 * seconds.orElse(0));
  }

  /** One of many searches while another deadline is open, which hears of interrupts for all. */
  public static SearchDeadline within(OptionalDouble seconds) {
    return new SearchDeadline(SECONDS_TO_PRINT, seconds);
  }

  /** Reads {@code --time-limit}; throws {@link BadInputException} where it is no time. */
  public static OptionalDouble limit(@Nullable String text) {
    if (text == null) {
      return OptionalDouble.empty();
    }
    double seconds = Amounts.decimal(text);
    if (seconds > 0 && seconds <= MOST_SECONDS) {
      return OptionalDouble.of(seconds);
    }
    throw new BadInputException(
        "--time-limit: '%s' is no time to search; give seconds up to a million, like 10"
            .formatted(text));
  }

  @Override
  public boolean getAsBoolean() {
    ended |= interrupted || cancelled.getAsBoolean() || (limited && System.nanoTime() >= end);
    return ended;
  }

  /** Whether a search was asked to end. */
  public boolean ended() {
    return ended;
  }

  /** Does work in this thread whose searches end as soon as they are cancelled. */
  public static <T> T cancellable(BooleanSupplier cancelled, Supplier<T> work) {
    CANCELLED.set(cancelled);
    try {
      return work.get();
    } finally {
      CANCELLED.remove();
    }
  }

  /** Gives work that ends by itself when it is interrupted the time to say so. */
  public static <T> T untilSaid(Supplier<T> work) {
    return untilSaid(SECONDS_TO_STOP, work);
  }

  /** The same with so many seconds from the interrupt to its end. */
  public static <T> T untilSaid(int secondsToStop, Supplier<T> work) {
    SearchDeadline patience = new SearchDeadline(OptionalDouble.empty(), secondsToStop);
    try {
      return work.get();
    } finally {
      patience.close();
    }
  }

  /** Whether the user, and not a time limit, wants an end. */
  public static boolean interrupted() {
    return interrupted;
  }

  /** From here on an interrupt ends the program at once. */
  @Override
  public void close() {
    if (!interrupted) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
        OPEN.decrementAndGet();
      } catch (IllegalStateException e) {
        interrupted = true; // just now
      }
    }
  }

  private void interrupt() {
    interrupted = true;
    try {
      if (!PRINTED.await(secondsToPrint, TimeUnit.SECONDS)) { // where exit() does not come first
        System.err.println("pipewright: interrupted");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** From here on an interrupt is a sentence also where no patience is open to hear of it. */
  public static void sayInterrupts() {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  if (!exiting && OPEN.get() == 0) {
                    System.err.println("pipewright: interrupted before it was done");
                  }
                },
                "say interrupts"));
  }

  /** From here on an interrupt is the usual end of the program, of which nothing is said. */
  public static void endsByInterrupt() {
    exiting = true;
  }

  /**
   * Ends the program with a status, even while an interrupt is about to end it with another; {@link
   * Failures#INTERRUPTED} leaves it to that, which is 128 and the signal's number.
   */
  public static void exit(int status) {
    exiting = true;
    if (interrupted && status == Failures.INTERRUPTED) {
      PRINTED.countDown();
    } else if (interrupted) {
      Runtime.getRuntime().halt(status);
    }
    System.exit(status);
  }
}
