package dev.pipewright.runtime.tensor;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bytedeco.pytorch.AutogradCompilerCall;
import org.bytedeco.pytorch.CompiledNodeArgs;
import org.bytedeco.pytorch.Edge;
import org.bytedeco.pytorch.Node;
import org.bytedeco.pytorch.NodeCall;
import org.bytedeco.pytorch.Storage;
import org.bytedeco.pytorch.TensorVector;

/**
 * What a history keeps for the backward pass. The library reports it to a compiler of histories; we
 * ask like one and compile nothing.
 */
public final class History {
  private static final byte NO_CHOICE = 0; // which sizes a compiler would leave open
  private static final String LEAF = "AccumulateGrad"; // ends at a tensor that has no history

  private History() {}

  /** The memory that a tensor lies in, which others may share. */
  public static long memory(Tensor tensor) {
    try (Scope scope = new Scope()) {
      return tensor.handle().storage().data().address();
    }
  }

  /** The bytes of each piece of memory that the history of these tensors keeps, by address. */
  public static Map<Long, Long> kept(List<Tensor> outputs) {
    try (Scope scope = new Scope()) {
      AutogradCompilerCall asking = new AutogradCompilerCall(NO_CHOICE);
      visit(outputs, asking);
      Map<Long, Long> kept = new LinkedHashMap<>();
      TensorVector tensors = asking.tensor_args().inputs();
      for (long i = 0; i < tensors.size(); i++) {
        Storage storage = tensors.get(i).storage();
        if (storage.nbytes() > 0) { // what has been emptied lies nowhere
          kept.put(storage.data().address(), storage.nbytes());
        }
      }
      return kept;
    }
  }

  private static void visit(List<Tensor> outputs, AutogradCompilerCall asking) {
    Set<Long> seen = new HashSet<>();
    Deque<Node> open = new ArrayDeque<>();
    outputs.stream().filter(Tensor::hasGradient).forEach(t -> open.add(t.handle().grad_fn()));
    while (!open.isEmpty()) {
      Node node = open.pop();
      if (node == null || node.isNull() || !seen.add(node.address())) {
        continue;
      }
      if (!node.name().getString().contains(LEAF)) {
        node.compiled_args(new CompiledNodeArgs(asking, new NodeCall(seen.size(), node)));
      }
      for (int i = 0; i < node.num_outputs(); i++) {
        Edge edge = node.next_edge(i);
        if (edge.is_valid()) {
          open.add(edge.function());
        }
      }
    }
  }
}
