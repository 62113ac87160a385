package dev.pipewright.runtime.launch;

import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.wire.Tls;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Tells ranks of a launcher, which try until rank 0 listens, that rank 0 has found a mistake and
 * there is no run to join.
 */
public final class Refusal {
  /** All ranks start at about the same time. */
  private static final long GRACE_SECONDS = 10;

  private Refusal() {}

  /**
   * Tells them, and returns when it has told all or the time for it is over.
   *
   * @param machines where the ranks look for this one; nothing happens where there are no others
   */
  public static void tell(Machines machines, String why) {
    if (machines.elsewhere() == 0 || machines.rendezvous().isEmpty()) {
      return;
    }
    Token token = new Token(machines.rendezvous().get().token());
    Semaphore told = new Semaphore(0); // workers, whose number ranks name
    try (Admission admission =
        new Admission(false, machines.port(), token.with(machines.certificates().map(Tls::of)))) {
      admission.open((control, hello) -> {
        control.send(Message.of("stop").with("why", why).with("again", 0));
        awaitEnd(control);
        told.release(Math.clamp(hello.number("slots"), 0, machines.elsewhere()));
      });
      told.tryAcquire(machines.elsewhere(), GRACE_SECONDS, TimeUnit.SECONDS);
    } catch (BadInputException e) {
      // the port is in use, and no other rank hears of it
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** What is closed too early may be lost. */
  private static void awaitEnd(Control control) {
    try {
      control.next();
    } catch (IOException e) {
      control.close();
    }
  }
}
