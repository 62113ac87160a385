package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.wire.TestAuthority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CoordinatorTest {
  private static final long ENDLESS = 1_000_000_000;
  private static final int POLICY = 38; // of the fields behind a process's name
  private static final int BATCH = 3;

  @TempDir Path folder;

  /** What workers have said, and their processes. */
  private final List<String> events = new ArrayList<>();

  private final Map<Integer, ProcessHandle> processes = new ConcurrentHashMap<>();

  private Launch ring(int workers, String job) {
    return Launch.of(workers, RingTask.class.getName(), job, Optional.of(folder.resolve("logs")))
        .with(new Launch.Resources(64, Computing.USUAL, true));
  }

  private final Set<Integer> policies = ConcurrentHashMap.newKeySet();

  /** By which Linux schedules a process's first thread. */
  private static Optional<Integer> policy(String pid) {
    try {
      String line = Files.readString(Path.of("/proc", pid, "stat"));
      String[] behindName = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
      return Optional.of(Integer.parseInt(behindName[POLICY]));
    } catch (IOException e) { // another system
      return Optional.empty();
    }
  }

  private final List<Set<Integer>> processors = new CopyOnWriteArrayList<>();

  private static Set<Integer> processors(String process) {
    Path status = Path.of("/proc", process, "status");
    return ProcessorShares.of(status, Path.of("/sys/devices/system/cpu")).cores().stream()
        .flatMap(Set::stream)
        .collect(Collectors.toSet());
  }

  private void hear(int worker, String text) {
    if (text.startsWith("pid ")) {
      String pid = text.substring(4);
      processors.add(processors(pid));
      ProcessHandle.of(Long.parseLong(pid)).ifPresent(process -> processes.put(worker, process));
      policy(pid).ifPresent(policies::add);
    } else {
      events.add(worker + " " + text);
    }
  }

  private void run(Launch launch) throws InterruptedException {
    try (Coordinator coordinator = new Coordinator(launch)) {
      coordinator.run(this::hear);
    }
  }

  private WorkerFailureException failing(Launch launch) {
    return assertThrows(WorkerFailureException.class, () -> run(launch));
  }

  @AfterEach
  void noProcessIsLeft() {
    for (ProcessHandle process : processes.values()) {
      boolean alive = process.isAlive();
      process.destroyForcibly();
      assertFalse(alive);
    }
  }

  private static Control joining(Admission admission, Token token) throws IOException {
    Control control = Control.connect("127.0.0.1", admission.port(), token.with(Optional.empty()));
    control.send(Message.of("join").with("name", "a machine").with("slots", 1).with("rank", 1));
    return control;
  }

  /** Otherwise it would wait for an answer for ever and miss the next attempt. */
  @Test
  @Timeout(30)
  void whoJoinsWhileARunEndsHearsOfIt() throws Exception {
    Token token = Token.random();
    BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
    try (Admission admission = new Admission(false, 0, token.with(Optional.empty()));
        WorkerProcesses none =
            new WorkerProcesses(Optional.empty(), token, Optional.empty(), true)) {
      WorkerGroup group =
          new WorkerGroup(ring(1, "1").withHere(0), admission.port(), none, inbox, this::hear);
      admission.open(group::welcome);
      try (Control early = joining(admission, token)) {
        while (inbox.isEmpty()) {
          Thread.sleep(10);
        }
        group.close();
        assertThrows(IOException.class, early::next);
      }
      try (Control late = joining(admission, token)) {
        assertThrows(IOException.class, late::next);
      }
    }
  }

  @Test
  void workersRunTheirTaskAndReport() throws Exception {
    run(ring(2, "3"));
    assertEquals(2, processes.size());
    assertTrue(events.get(0).matches("[01] step 0 bytes \\d+"), events::toString);
    assertEquals(2, events.size());
    assertTrue(Files.exists(folder.resolve("logs/rank-1.log")));
  }

  @Test
  void theirThreadsDoNotInterruptEachOther() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/chrt")), "the system has no such policy");
    run(ring(2, "3"));
    assertEquals(Set.of(BATCH), policies);
  }

  @Test
  void eachComputesOnProcessorsOfItsOwn() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/taskset")), "nobody could bind them");
    Set<Integer> all = processors("self");
    assumeTrue(all.size() >= 2, "there is only one processor");
    run(ring(2, "3"));
    assertTrue(Collections.disjoint(processors.get(0), processors.get(1)));
    Set<Integer> both = new HashSet<>(processors.get(0));
    both.addAll(processors.get(1));
    assertEquals(all, both);
  }

  /** Two workers exchange 10,000 messages and as many parts of sums. */
  @Test
  void nativeMemoryStaysFlat() throws Exception {
    run(ring(2, "5001"));
    long early = bytes("0 step 2500 ");
    assertTrue(Math.abs(bytes("0 step 5000 ") - early) < 8 << 20);
  }

  private long bytes(String prefix) {
    String event =
        events.stream().filter(text -> text.startsWith(prefix)).findFirst().orElseThrow();
    return Long.parseLong(event.substring(event.lastIndexOf(' ') + 1));
  }

  @Test
  void aTaskThatThrowsStopsAllAndIsNamedWithItsPlace() {
    WorkerFailureException failure = failing(ring(3, ENDLESS + " throw 1 5"));
    assertEquals(
        "worker 1 (stage 1, reduction in step 4) failed: java.lang.IllegalArgumentException: a"
            + " number is wrong; all others have been stopped",
        failure.getMessage());
    assertTrue(failure.lastLines().contains("about to throw"), failure::lastLines);
    assertTrue(failure.lastLines().contains("at dev.pipewright"), failure::lastLines);
  }

  @Test
  void aMistakeOfTheUserThatAWorkerFindsIsAMistakeOfTheUser() {
    BadInputException mistake =
        assertThrows(BadInputException.class, () -> run(ring(2, ENDLESS + " input 0 2")));
    assertEquals("data.bin: the file ends in the middle", mistake.getMessage());
  }

  @Test
  void aReportThatIsNoneEndsTheRunWithItsSenderAndTheReason() {
    Coordinator.Listener listener =
        (worker, text) -> {
          if (worker == 0) {
            hear(worker, text);
          } else {
            throw new ProtocolException("its report is no JSON");
          }
        };
    WorkerFailureException failure =
        assertThrows(
            WorkerFailureException.class,
            () -> {
              try (Coordinator coordinator = new Coordinator(ring(2, ENDLESS + ""))) {
                coordinator.run(listener);
              }
            });
    String sentence = String.valueOf(failure.getMessage());
    assertTrue(sentence.startsWith("worker 1 ("), sentence);
    assertTrue(
        sentence.endsWith(
            " sent a message of another version: its report is no JSON; all others have been"
                + " stopped"),
        sentence);
  }

  @Test
  void aWorkerThatExitsIsNamed() {
    assertEquals(
        "worker 0 (stage 0, reduction in step 1) exited with status 7 before it was done; all"
            + " others have been stopped",
        failing(ring(2, ENDLESS + " exit 0 2")).getMessage());
  }

  @Test
  void aTaskThatDoesNotExistIsNamed() {
    Launch launch = Launch.of(1, "no.such.Task", "", Optional.of(folder.resolve("logs")));
    assertEquals(
        "worker 0 (starting up) failed: java.lang.ClassNotFoundException: no.such.Task; all others"
            + " have been stopped",
        failing(launch).getMessage());
  }

  /** Kills a worker after a random time; the ring is anywhere then. */
  @RepeatedTest(20)
  void aKilledWorkerIsNamedWithThePlaceItWasAt(RepetitionInfo seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int workers = random.nextInt(2, 4);
    int victim = random.nextInt(workers);
    int wait = random.nextInt(200);
    Coordinator.Listener listener =
        (worker, text) -> {
          hear(worker, text);
          if (text.startsWith("pid ") && processes.size() == workers) {
            new Thread(() -> kill(victim, wait)).start();
          }
        };
    WorkerFailureException failure =
        assertThrows(
            WorkerFailureException.class,
            () -> {
              try (Coordinator coordinator = new Coordinator(ring(workers, ENDLESS + ""))) {
                coordinator.run(listener);
              }
            });
    assertEquals(victim, failure.worker(), failure::getMessage);
    assertTrue(
        sentence(failure)
            .matches(
                "worker \\d \\((starting up|stage "
                    + victim
                    + ", (forward of micro-batch 7|reduction) in step \\d+)\\) was killed by"
                    + " signal 9 \\(the system does so when memory runs out\\); all others have"
                    + " been stopped"),
        failure::getMessage);
  }

  private static String sentence(Exception failure) {
    return String.valueOf(failure.getMessage());
  }

  private ProcessHandle process(int worker) {
    return Objects.requireNonNull(processes.get(worker));
  }

  private void kill(int worker, int wait) {
    try {
      Thread.sleep(wait);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    process(worker).destroyForcibly();
  }

  private static Launch.Patience patience(Duration start, Duration join) {
    return new Launch.Patience(start, join, Duration.ZERO, Duration.ofMinutes(1));
  }

  @Test
  void aWorkerThatIsKilledBeforeItsFirstOperationIsNamedWithItsStage() {
    Launch launch = ring(2, "0 kill 1 0").withRoles(List.of("stage 0", "stage 1"));
    assertEquals(
        "worker 1 (stage 1, starting up) was killed by signal 9 (the system does so when memory"
            + " runs out); all others have been stopped",
        failing(launch).getMessage());
  }

  private Launch impatient(int workers, String job) {
    return ring(workers, job).with(Launch.Patience.USUAL.withStall(Duration.ofSeconds(4)));
  }

  private void stalls(int workers, String what, String sentence) {
    String said = sentence(failing(impatient(workers, ENDLESS + what)));
    assertTrue(said.matches(sentence + "; all others have been stopped"), said);
  }

  /** The others wait for it, and are not to blame. */
  @Test
  void aWorkerThatIsStoppedIsNamedWithThePlaceItIsAtAndEndsTheRun() {
    stalls(
        3,
        " stop 1 5",
        "worker 1 \\(stage 1, reduction in step 4\\) has not answered for \\d+ s: it has been stopped,"
            + " or is cut off");
  }

  @Test
  void aWorkerThatHangsIsNamedWithThePlaceItIsAtAndEndsTheRun() {
    stalls(
        3,
        " sleep 2 5",
        "worker 2 \\(stage 2, reduction in step 4\\) has made no progress for \\d+ s: it neither"
            + " computes nor waits for another worker");
  }

  @Test
  void workersThatWaitForEachOtherEndTheRun() {
    stalls(
        2,
        " wait 1 5",
        "worker \\d \\(stage \\d, .*\\) has waited for worker \\d for \\d+ s, as all workers wait for"
            + " others");
  }

  @Test
  void aWorkerThatNeverComesIsMissed() {
    Launch launch =
        ring(1, "1")
            .withRoles(List.of("stage 0"))
            .with(patience(Duration.ZERO, Duration.ofMinutes(1)));
    assertEquals(
        "worker 0 (stage 0, starting up) has not come within 0 s", failing(launch).getMessage());
  }

  /** A worker that is stopped while its Java machine starts, and others that wait for it. */
  @Test
  void aWorkerThatIsStoppedBeforeItComesIsMissedSoonAfterTheOthers() throws Exception {
    AtomicReference<ProcessHandle> stopped = new AtomicReference<>();
    Thread stopping =
        new Thread(() -> {
          try {
            while (stopped.get() == null) {
              ProcessHandle.current()
                  .children()
                  .filter(CoordinatorTest::isSecondWorker)
                  .findFirst()
                  .ifPresent(stopped::set);
              Thread.sleep(1);
            }
            signal("STOP", stopped.get());
          } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    stopping.start();
    String said = sentence(failing(impatient(3, ENDLESS + "")));
    stopping.join();
    assertEquals(
        "worker 1 (starting up) has not come within 10 s after the others: it has been stopped, or"
            + " hangs",
        said);
    assertFalse(stopped.get().isAlive());
  }

  private static boolean isSecondWorker(ProcessHandle process) {
    List<String> arguments = List.of(process.info().arguments().orElse(new String[0]));
    int main = arguments.indexOf(WorkerMain.class.getName());
    return main >= 0 && !arguments.contains("-c") && arguments.get(main + 1).equals("1");
  }

  private static void signal(String name, ProcessHandle to)
      throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(to.pid())).start().waitFor();
  }

  @Test
  void machinesThatNeverJoinAreMissed() {
    Launch launch =
        ring(3, "1").withHere(1).with(patience(Duration.ofMinutes(1), Duration.ofMillis(300)));
    assertEquals("2 of 3 workers have not joined within 0 s", failing(launch).getMessage());
  }

  @Test
  void aPortInUseIsNamed() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      assertEquals(
          "port " + port + " is in use on this machine; name another one, or none for any free one",
          assertThrows(BadInputException.class, () -> run(ring(1, "1").withPort(port)))
              .getMessage());
    }
  }

  private CompletableFuture<Optional<String>> join(Coordinator coordinator, int slots) {
    return CompletableFuture.supplyAsync(() ->
        JoinedHost.run(
            JoinRequest.once(
                "localhost",
                coordinator.port(),
                coordinator.token(),
                slots,
                Optional.of(folder.resolve("logs-there").toString()))));
  }

  @Test
  void anotherMachineJoins() throws Exception {
    try (Coordinator coordinator = new Coordinator(ring(3, "1000").withHere(1))) {
      CompletableFuture<Optional<String>> other = join(coordinator, 5);
      coordinator.run(this::hear);
      assertEquals(Optional.empty(), other.get());
      assertEquals(3, processes.size());
      assertTrue(Files.exists(folder.resolve("logs-there/rank-2.log")));
      assertEquals(0, coordinator.clockAhead(0));
      // Both clocks are the same one, but for how long an answer may wait for a processor.
      assertEquals(0, coordinator.clockAhead(2) * 1e-9, 1);
    }
  }

  @Test
  void aWorkerKilledOnAnotherMachineIsNamedWithItsPlace() throws Exception {
    try (Coordinator coordinator = new Coordinator(ring(2, ENDLESS + "").withHere(1))) {
      CompletableFuture<Optional<String>> other = join(coordinator, 1);
      WorkerFailureException failure =
          assertThrows(
              WorkerFailureException.class,
              () ->
                  coordinator.run((worker, text) -> {
                    hear(worker, text);
                    if (text.startsWith("step 500")) {
                      process(1).destroyForcibly();
                    }
                  }));
      assertTrue(
          sentence(failure).matches("worker 1 \\(stage 1, .* in step \\d+\\) was killed .*"),
          failure::getMessage);
      assertTrue(other.get().orElseThrow().startsWith("worker 1 (stage 1"));
    }
  }

  /** A thread of its own in which a coordinator waits for others until it is interrupted. */
  private Thread waiting(Coordinator coordinator) {
    Thread thread =
        new Thread(
            () -> assertThrows(InterruptedException.class, () -> coordinator.run(this::hear)));
    thread.start();
    return thread;
  }

  @Test
  void aWrongTokenIsRefused() throws Exception {
    try (Coordinator coordinator = new Coordinator(ring(2, "1").withHere(1))) {
      Thread running = waiting(coordinator);
      BadInputException mistake =
          assertThrows(
              BadInputException.class,
              () ->
                  JoinedHost.run(
                      JoinRequest.once(
                          "localhost",
                          coordinator.port(),
                          "guess",
                          1,
                          Optional.of(folder.resolve("logs-there").toString()))));
      assertEquals(
          "localhost:"
              + coordinator.port()
              + ": the token is wrong; use the one that the coordinator has printed",
          mistake.getMessage());
      running.interrupt();
      running.join();
    }
  }

  /** One of both ends has none, or none that the other accepts. */
  @ParameterizedTest
  @CsvSource({
    "here,, lets in machines with certificates only; give --tls-cert",
    ", there, uses no certificates; give --tls-cert",
    "here, stranger, has a certificate that no authority of this machine has signed",
  })
  void aMachineWhoseCertificatesDoNotFitIsTold(
      @Nullable String here, @Nullable String there, String what) throws Exception {
    TestAuthority authority = TestAuthority.in(folder, "authority");
    TestAuthority rival = TestAuthority.in(folder, "rival");
    Optional<CertificateFiles> own = Optional.ofNullable(here).map(authority::certificate);
    Optional<CertificateFiles> theirs =
        Optional.ofNullable(there)
            .map(name -> (name.equals("there") ? authority : rival).certificate(name));
    Launch launch =
        ring(2, "1")
            .withHere(0)
            .withCertificates(own)
            .with(patience(Duration.ofMinutes(1), Duration.ofSeconds(20)));
    try (Coordinator coordinator = new Coordinator(launch)) {
      Thread running = waiting(coordinator);
      JoinRequest request =
          JoinRequest.once(
              "localhost", coordinator.port(), coordinator.token(), 1, Optional.empty());
      BadInputException mistake =
          assertThrows(BadInputException.class, () -> JoinedHost.run(request.with(theirs)));
      String sentence = request.address() + " " + what;
      assertTrue(String.valueOf(mistake.getMessage()).startsWith(sentence), mistake::getMessage);
      running.interrupt();
      running.join();
    }
  }

  @Test
  void nobodyToJoinIsSaid() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    BadInputException mistake =
        assertThrows(
            BadInputException.class,
            () -> JoinedHost.run(JoinRequest.once("localhost", port, "", 1, Optional.empty())));
    assertEquals(
        "no run waits for workers at localhost:" + port + "; start `train` there first",
        mistake.getMessage());
  }
}
