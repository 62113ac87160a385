package dev.pipewright.runtime.transport;

import java.util.List;

class LocalTransportTest extends TransportContract {
  @Override
  List<? extends Transport> connected(int workers) {
    return LocalTransport.of(workers);
  }
}
