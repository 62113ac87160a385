package dev.pipewright.bench.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ServeLoadTest {
  @Test
  void everyKindOfRequestIsAnsweredWithoutAnError() throws Exception {
    ServeLoad.Measured measured = new ServeLoad(20, 2).measure();
    assertEquals(List.of(), measured.wrong());
    assertEquals(40, measured.arrivals().size());
    assertEquals(0, measured.unanswered());
    Set<String> kinds =
        RequestKind.PAGES.stream()
            .map(RequestKind::name)
            .collect(Collectors.toCollection(TreeSet::new));
    kinds.add(RequestKind.STUDY.name());
    assertEquals(
        kinds,
        measured.arrivals().stream()
            .map(Reply::kind)
            .collect(Collectors.toCollection(TreeSet::new)));
  }
}
