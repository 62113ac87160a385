package dev.pipewright.formats.sweep;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Nearest;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.formats.problem.StepOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the file of a sweep: lists of {@code models}, {@code clusters} and {@code batches}, perhaps
 * of {@code flags}, whose product it is, and combinations to {@code exclude}. An element is a value
 * or an object with a {@code name} and further {@code flags} of its own.
 */
public final class SweepFile {
  /** More points than anyone waits for. */
  private static final int MOST_POINTS = 50_000;

  private static final List<String> KEYS =
      List.of("models", "clusters", "batches", "flags", "exclude");
  private static final List<String> EXCLUDED = List.of("model", "cluster", "batch", "flags");

  /** A word without blanks, or one in quotes. */
  private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|([^\\s\"']+)");

  private final Fields fields;
  private final List<SweepEntry> models;
  private final List<SweepEntry> clusters;
  private final List<SweepEntry> batches;
  private final List<SweepEntry> flags;

  private SweepFile(Path file) {
    fields = Tree.yamlOrJson(file).object(KEYS);
    models = entries("models", "model", SweepFile::text, NetworkNames::check);
    clusters = entries("clusters", "cluster", SweepFile::text, ClusterNames::resolve);
    batches =
        entries(
            "batches",
            "batch",
            node -> Integer.toString(node.count(1)),
            samples -> StepOptions.checkBatch(Integer.parseInt(samples)));
    flags =
        fields.optional("flags").isPresent()
            ? entries("flags", "flags", SweepFile::text, text -> {})
            : List.of(new SweepEntry("", "", List.of(), 1));
  }

  /**
   * The points of a file, in order; throws {@link BadInputException} with its line where something
   * is wrong with it.
   */
  public static List<SweepPoint> read(Path file) {
    return new SweepFile(file).points();
  }

  private static String text(Node node) {
    return node.is(Node.Type.NUMBER) ? node.scalar() : node.text();
  }

  private List<SweepEntry> entries(
      String key, String member, Function<Node, String> value, Consumer<String> check) {
    Node list = fields.required(key);
    if (list.list().isEmpty()) {
      throw list.wrong(key + " is empty; a sweep needs at least one of them");
    }
    Map<String, SweepEntry> byName = new LinkedHashMap<>();
    for (Node node : list.list()) {
      SweepEntry entry = entry(node, member, value, check);
      SweepEntry first = byName.putIfAbsent(entry.name(), entry);
      if (first != null) {
        throw node.wrong(
            "%s has two entries called \"%s\", the first in line %d; give each a name of its own"
                .formatted(key, entry.name(), first.line()));
      }
    }
    return List.copyOf(byName.values());
  }

  private static SweepEntry entry(
      Node node, String member, Function<Node, String> value, Consumer<String> check) {
    if (!node.is(Node.Type.OBJECT)) {
      return of(node, Optional.empty(), node, Optional.empty(), member, value, check);
    }
    boolean onlyFlags = member.equals("flags");
    Fields entry =
        node.object(onlyFlags ? List.of("name", "flags") : List.of("name", member, "flags"));
    return of(
        node,
        entry.optional("name"),
        entry.required(member),
        onlyFlags ? Optional.empty() : entry.optional("flags"),
        member,
        value,
        check);
  }

  private static SweepEntry of(
      Node node,
      Optional<Node> name,
      Node valued,
      Optional<Node> added,
      String member,
      Function<Node, String> value,
      Consumer<String> check) {
    String text = value.apply(valued);
    try {
      check.accept(text);
    } catch (BadInputException e) {
      throw valued.wrong(String.valueOf(e.getMessage()));
    }
    String called = name.map(SweepFile::text).orElse(text);
    return member.equals("flags")
        ? new SweepEntry(called, "", words(valued, text), node.line())
        : new SweepEntry(
            called,
            text,
            added.map(more -> words(more, more.text())).orElse(List.of()),
            node.line());
  }

  /** The words of a command line; quotes keep blanks. */
  private static List<String> words(Node node, String text) {
    List<String> words = new ArrayList<>();
    Matcher word = WORD.matcher(text);
    int end = 0;
    while (word.find()) {
      if (!text.substring(end, word.start()).isBlank()) {
        break;
      }
      end = word.end();
      for (int group = 1; group <= word.groupCount(); group++) {
        if (word.group(group) != null) {
          words.add(word.group(group));
        }
      }
    }
    if (!text.substring(end).isBlank()) {
      throw node.wrong(
          node.place() + " has a quote that does not end: " + text + "; close it, or leave it out");
    }
    return words;
  }

  private List<SweepPoint> points() {
    List<Exclusion> exclusions = exclusions();
    long all = (long) models.size() * clusters.size() * batches.size() * flags.size();
    if (all > MOST_POINTS) {
      throw fields
          .node()
          .wrong(
              "the lists have %,d combinations; take at most %,d in one sweep"
                  .formatted(all, MOST_POINTS));
    }
    List<SweepPoint> points = new ArrayList<>();
    Map<SweepKey, SweepPoint> known = new HashMap<>();
    for (SweepEntry model : models) {
      for (SweepEntry cluster : clusters) {
        for (SweepEntry batch : batches) {
          for (SweepEntry extra : flags) {
            SweepPoint point = new SweepPoint(points.size() + 1, model, cluster, batch, extra);
            if (exclusions.stream().filter(each -> each.excludes(point)).count() == 0) {
              add(points, known, point);
            }
          }
        }
      }
    }
    for (Exclusion each : exclusions) {
      each.requireUse();
    }
    if (points.isEmpty()) {
      throw fields.required("exclude").wrong("exclude leaves no point; keep at least one");
    }
    return points;
  }

  private void add(List<SweepPoint> points, Map<SweepKey, SweepPoint> known, SweepPoint point) {
    SweepPoint first = known.putIfAbsent(point.key(), point);
    if (first != null) {
      throw fields
          .node()
          .wrong(
              "points %d and %d are both %s; keep one of them"
                  .formatted(first.number(), point.number(), point.key()));
    }
    points.add(point);
  }

  private List<Exclusion> exclusions() {
    List<Exclusion> exclusions = new ArrayList<>();
    for (Node node : fields.optional("exclude").map(Node::list).orElse(List.of())) {
      Fields named = node.object(EXCLUDED);
      if (node.members().isEmpty()) {
        throw node.wrong(node.place() + " excludes everything; name a model, cluster or batch");
      }
      exclusions.add(
          new Exclusion(
              node,
              List.of(
                  name(named, "model", models),
                  name(named, "cluster", clusters),
                  name(named, "batch", batches),
                  name(named, "flags", flags))));
    }
    return exclusions;
  }

  private static Optional<String> name(Fields named, String key, List<SweepEntry> entries) {
    Optional<Node> node = named.optional(key);
    List<String> known = entries.stream().map(SweepEntry::name).toList();
    node.filter(each -> !known.contains(each.scalar()))
        .ifPresent(each -> {
          throw each.wrong(
              "%s is \"%s\", which the sweep does not have; %s"
                  .formatted(each.place(), each.scalar(), Nearest.hint(each.scalar(), known)));
        });
    return node.map(Node::scalar);
  }

  /** Combinations that are left out: those that agree with all that is named. */
  private static final class Exclusion {
    private final Node node;
    private final List<Optional<String>> names;
    private boolean used;

    Exclusion(Node node, List<Optional<String>> names) {
      this.node = node;
      this.names = List.copyOf(names);
    }

    boolean excludes(SweepPoint point) {
      boolean all =
          agrees(0, point.model())
              && agrees(1, point.cluster())
              && agrees(2, point.batch())
              && agrees(3, point.flags());
      used |= all;
      return all;
    }

    private boolean agrees(int list, SweepEntry entry) {
      return names.get(list).map(entry.name()::equals).orElse(true);
    }

    void requireUse() {
      if (!used) {
        throw node.wrong(node.place() + " excludes no point; correct it or remove it");
      }
    }
  }
}
