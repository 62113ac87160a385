package dev.pipewright.runtime.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** As between machines: all that holds for others, and that whoever is in between is noticed. */
class SealedTransportTest extends TcpTransportTest {
  @Override
  boolean sealed() {
    return true;
  }

  Relay relay(Relay.Does what) throws IOException {
    return Relay.ofSealed(what);
  }

  private static void send(TcpTransport from, TcpTransport to, int tag) {
    try (Scope scope = new Scope()) {
      Pending receiving = to.receive(Tensor.empty(5), 1, tag);
      from.send(tensor(1, tag, 5), 0, tag).await();
      receiving.await();
    }
  }

  /** A frame that is left out is missed when the next one comes. */
  private static void several(TcpTransport from, TcpTransport to) {
    try (Scope scope = new Scope()) {
      List<Pending> receiving = new ArrayList<>();
      for (int tag = 1; tag < 4; tag++) {
        receiving.add(to.receive(Tensor.empty(5), 1, tag));
        from.send(tensor(1, tag, 5), 0, tag);
      }
      receiving.forEach(Pending::await);
    }
  }

  @Test
  void aRelayThatChangesNothingIsNotNoticed() throws Exception {
    try (Relay relay = relay(Relay.Does.NOTHING)) {
      List<TcpTransport> both = connected(2, relay::to);
      for (int tag = 0; tag < 3; tag++) {
        send(both.get(1), both.get(0), tag);
      }
      both.forEach(Transport::close);
    }
  }

  @ParameterizedTest
  @EnumSource(names = "NOTHING", mode = EnumSource.Mode.EXCLUDE)
  void whoeverChangesFramesInBetweenEndsTheRunWithASentenceThatNamesBothWorkers(Relay.Does what)
      throws Exception {
    try (Relay relay = relay(what)) {
      List<TcpTransport> both = connected(2, relay::to);
      send(both.get(1), both.get(0), 0);
      relay.interfere();
      WrongMessageException wrong =
          assertThrows(WrongMessageException.class, () -> several(both.get(1), both.get(0)));
      assertEquals(
          "a frame from worker 1 to worker 0 has been changed, left out, repeated or put in another"
              + " order on its way; see who else has access to the network between them",
          wrong.getMessage());
      both.forEach(Transport::close);
    }
  }
}
