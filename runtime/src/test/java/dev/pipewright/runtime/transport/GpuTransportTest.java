package dev.pipewright.runtime.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuTransportTest {
  @ParameterizedTest
  @CsvSource({
    "one one,0 1,true",
    "one one,0 0,false",
    "one two,0 0,true",
    "one two one,0 1 0,false"
  })
  void workersAreApartWhereNoTwoShareAGpuOfAMachine(String machines, String gpus, boolean apart)
      throws Exception {
    String[] machine = machines.split(" ", -1);
    String[] gpu = gpus.split(" ", -1);
    List<LocalTransport> transports = LocalTransport.of(machine.length);
    List<Future<Boolean>> answers = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (LocalTransport worker : transports) {
        int place = worker.worker();
        answers.add(
            threads.submit(
                () -> GpuTransport.apart(worker, machine[place], Integer.parseInt(gpu[place]))));
      }
      for (Future<Boolean> answer : answers) {
        assertEquals(apart, answer.get());
      }
    }
  }
}
