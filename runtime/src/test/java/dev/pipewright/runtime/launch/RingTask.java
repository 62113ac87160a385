package dev.pipewright.runtime.launch;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.bytedeco.javacpp.Pointer;

/**
 * Each step a tensor goes round all workers, then all add theirs up. The job is {@code STEPS} or
 * {@code STEPS WHAT WORKER STEP}: what goes wrong at one worker in a step.
 */
public final class RingTask implements WorkerTask {
  private static final int SIZE = 1000;

  @Override
  public void run(String job, Transport me, Reporter reporter) throws Exception {
    String[] words = job.split(" ", 4);
    long steps = Long.parseLong(words[0]);
    boolean mine = words.length > 2 && Integer.parseInt(words[2]) == me.worker();
    List<Integer> everybody = IntStream.range(0, me.workers()).boxed().toList();
    Group all = me.group("all", everybody);
    reporter.event("pid " + ProcessHandle.current().pid());
    if (mine && steps == 0) {
      misbehave(words[1], me);
    }
    for (long step = 0; step < steps; step++) {
      if (mine && step == Long.parseLong(words[3])) {
        misbehave(words[1], me);
      }
      step(step, me, all, reporter.recorder());
      if (step % 500 == 0) {
        reporter.event("step " + step + " bytes " + Pointer.physicalBytes());
      }
    }
  }

  private static void step(long step, Transport me, Group all, FlightRecorder recorder) {
    int next = (me.worker() + 1) % me.workers();
    int before = (me.worker() + me.workers() - 1) % me.workers();
    try (Scope scope = new Scope()) {
      Tensor mine = Tensor.ones(SIZE).scaleInPlace(me.worker());
      Tensor got = Tensor.empty(SIZE);
      recorder.at(step, 0, 'F', me.worker(), 7);
      Pending receiving = me.receive(got, before, 0);
      me.send(mine, next, 0).await();
      receiving.await();
      recorder.at(step, 1, 'A', me.worker(), 0);
      all.sum(got).await();
      int expected = me.workers() * (me.workers() - 1) / 2;
      if (got.part(0, SIZE - 1, 1).item() != expected) {
        throw new IllegalStateException("the sum is wrong");
      }
    }
  }

  private static void misbehave(String how, Transport me) throws Exception {
    System.out.println("about to " + how);
    switch (how) {
      case "throw" -> throw new IllegalArgumentException("a number is wrong");
      case "input" -> throw new BadInputException("data.bin: the file ends in the middle");
      case "exit" -> System.exit(7);
      case "stop", "kill" -> signal(how);
      case "wait" -> me.receive(Tensor.empty(1), 1 - me.worker(), 99).await(); // which none sends
      case "sleep" -> Thread.sleep(100_000);
      default -> throw new IllegalArgumentException(how);
    }
  }

  private static void signal(String name) throws Exception {
    String self = Long.toString(ProcessHandle.current().pid());
    new ProcessBuilder("kill", "-" + name.toUpperCase(Locale.ROOT), self).start().waitFor();
    Thread.sleep(100_000);
  }
}
