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
  @CsvSource({"0 1,true", "0 0,false", "0 1 0,false", "2 1 0,true"})
  void workersAreApartWhereNoTwoShareAGpu(String gpus, boolean apart) throws Exception {
    String[] gpu = gpus.split(" ", -1);
    List<LocalTransport> transports = LocalTransport.of(gpu.length);
    List<Future<Boolean>> answers = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (LocalTransport worker : transports) {
        int place = worker.worker();
        answers.add(threads.submit(() -> GpuTransport.apart(worker, Integer.parseInt(gpu[place]))));
      }
      for (Future<Boolean> answer : answers) {
        assertEquals(apart, answer.get());
      }
    }
  }
}
