package dev.pipewright.server.page;

import dev.pipewright.formats.json.Node;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Members of an answer, of which any may be missing: answers of searches that found nothing. */
record Members(Map<String, Node> nodes) {
  static final Members NONE = new Members(Map.of());

  boolean has(String name) {
    Node node = nodes.get(name);
    return node != null && !node.is(Node.Type.NOTHING);
  }

  /** Empty where there is none. */
  String text(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.TEXT) ? "" : node.text();
  }

  /** NaN where there is none. */
  double number(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.NUMBER) ? Double.NaN : node.finite();
  }

  Members member(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.OBJECT) ? NONE : new Members(node.members());
  }

  List<Node> list(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.LIST) ? List.of() : node.elements();
  }
}
