package dev.pipewright.runtime.transport;

import java.util.List;

class StagedTransportTest extends TransportContract {
  @Override
  List<? extends Transport> connected(int workers) {
    return LocalTransport.of(workers).stream().map(StagedTransport::new).toList();
  }
}
