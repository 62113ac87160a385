package dev.pipewright.server.study;

import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Members of an answer, of which any may be missing: answers of searches that found nothing. */
public record Members(Map<String, Node> nodes) {
  public static final Members NONE = new Members(Map.of());

  /** Those of the JSON object that a command prints; none where it prints nothing. */
  public static Members of(String answer) {
    return answer.isBlank()
        ? NONE
        : new Members(Tree.json(Path.of("answer.json"), answer).members());
  }

  public boolean has(String name) {
    Node node = nodes.get(name);
    return node != null && !node.is(Node.Type.NOTHING);
  }

  /** Empty where there is none. */
  public String text(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.TEXT) ? "" : node.text();
  }

  /** NaN where there is none. */
  public double number(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.NUMBER) ? Double.NaN : node.finite();
  }

  public Members member(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.OBJECT) ? NONE : new Members(node.members());
  }

  public List<Node> list(String name) {
    @Nullable Node node = nodes.get(name);
    return node == null || !node.is(Node.Type.LIST) ? List.of() : node.elements();
  }
}
