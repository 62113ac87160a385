package dev.pipewright.server.study;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.NetworkNames;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a user asks: the fields of the form, and the command line that answers them. Only what is
 * listed here can be asked from a browser: no flag names a file of this machine, starts a process
 * or searches without end.
 */
public final class StudyRequest {
  /** Words that a field may have; the first is the default and adds no flag. */
  public static final Map<String, List<String>> CHOICES =
      Map.of(
          "objective", List.of("time", "memory", "cost"),
          "precision", List.of("default", "bf16", "fp16", "tf32", "fp32"),
          "optimizer", List.of("default", "adam", "sgd", "momentum", "rmsprop"));

  /** All fields of the form. */
  public static final List<String> FIELDS =
      List.of(
          "model",
          "network",
          "cluster",
          "batch",
          "objective",
          "precision",
          "optimizer",
          "sequence",
          "price",
          "front",
          "limit");

  private static final Map<String, String> FLAGS =
      Map.of(
          "--cluster", "cluster",
          "--global-batch", "batch",
          "--objective", "objective",
          "--device-hour", "price",
          "--precision", "precision",
          "--optimizer", "optimizer",
          "--sequence", "sequence",
          "--time-limit", "limit");

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9:=,._+-]{0,119}");
  private static final Pattern WHOLE = Pattern.compile("[1-9][0-9]{0,8}");
  private static final Pattern PRICE = Pattern.compile("[0-9]{1,6}([.][0-9]{1,4})?");
  private static final int MOST_SECONDS = 600;
  private static final int USUAL_SECONDS = 60;

  private final List<String> command = new ArrayList<>();
  private final Optional<UploadedNetwork> network;

  private StudyRequest(Optional<UploadedNetwork> network) {
    this.network = network;
  }

  /**
   * Reads a form; throws {@link BadInputException} for the first field that is wrong.
   *
   * @param network a file that is to be planned for, instead of a network of the form's name
   */
  public static StudyRequest of(Map<String, String> form, Optional<UploadedNetwork> network) {
    StudyRequest request = new StudyRequest(network);
    List<String> command = request.command;
    command.add("plan");
    command.add(network.map(UploadedNetwork::name).orElseGet(() -> model(field(form, "model"))));
    command.addAll(List.of("--cluster", cluster(field(form, "cluster"))));
    command.addAll(List.of("--global-batch", whole("batch", field(form, "batch"), "like 64")));
    String objective = choice(form, "objective");
    boolean front = form.containsKey("front");
    if (!front && !objective.equals("time")) {
      command.addAll(List.of("--objective", objective));
    }
    String price = field(form, "price");
    if (!price.isEmpty() && !PRICE.matcher(price).matches()) {
      throw new BadInputException(
          "price: '%s' is no price of a device-hour; give a number like 2.5".formatted(price));
    }
    if (!price.isEmpty() && objective.equals("cost") && !front) {
      command.addAll(List.of("--device-hour", price));
    }
    for (String each : List.of("precision", "optimizer")) {
      String chosen = choice(form, each);
      if (!chosen.equals("default")) {
        command.addAll(List.of("--" + each, chosen));
      }
    }
    String sequence = field(form, "sequence");
    if (!sequence.isEmpty()) {
      command.addAll(List.of("--sequence", whole("sequence", sequence, "like 4096")));
    }
    if (front) {
      command.add("--front");
    }
    String limit = field(form, "limit");
    String seconds =
        limit.isEmpty() ? Integer.toString(USUAL_SECONDS) : whole("limit", limit, "like 60");
    if (Integer.parseInt(seconds) > MOST_SECONDS) {
      throw new BadInputException(
          "limit: a search takes at most %d s here; the command line has no limit"
              .formatted(MOST_SECONDS));
    }
    command.addAll(List.of("--time-limit", seconds, "--json"));
    return request;
  }

  private static String field(Map<String, String> form, String name) {
    return form.getOrDefault(name, "").strip();
  }

  /** A network that needs no file; a name never leads to one on the server's disk. */
  public static String model(String name) {
    if (name.isEmpty()) {
      throw new BadInputException(
          "model: is missing; give a name like bert-48, or a config.json of Hugging Face");
    }
    if (!NAME.matcher(name).matches()) {
      throw new BadInputException(
          "model: this is no name of a network; give one like bert-48 or gpt:layers=24,hidden=1024");
    }
    if (UploadedNetwork.isName(name)) {
      throw new BadInputException("model: %s is a file; choose it".formatted(name));
    }
    if (NetworkNames.namedTransformer(name).isEmpty() && NetworkNames.zooModel(name).isEmpty()) {
      throw new BadInputException(
          "model: no network '%s'; %s".formatted(name, NetworkNames.meant(name)));
    }
    return name;
  }

  /** A cluster that needs no file; throws {@link BadInputException} for others. */
  public static String cluster(String name) {
    if (name.isEmpty()) {
      throw new BadInputException("cluster: is missing; give a name like h100:2x8");
    }
    if (!NAME.matcher(name).matches()) {
      throw new BadInputException("cluster: this is no name of a cluster; give one like h100:2x8");
    }
    ClusterNames.checkNamed(name);
    return name;
  }

  /** A whole number above 0 in digits; throws {@link BadInputException}, with an example. */
  public static String whole(String field, String text, String example) {
    if (!WHOLE.matcher(text).matches()) {
      throw new BadInputException(
          "%s: %s is no whole number above 0; give one %s"
              .formatted(field, text.isEmpty() ? "nothing" : "'" + text + "'", example));
    }
    return text;
  }

  private static String choice(Map<String, String> form, String name) {
    List<String> words = CHOICES.getOrDefault(name, List.of());
    String word = form.getOrDefault(name, words.getFirst());
    if (!words.contains(word)) {
      throw new BadInputException(
          "%s: '%s' is none of %s; take one of these"
              .formatted(name, word, String.join(", ", words)));
    }
    return word;
  }

  /** The name of a command line's network. */
  static String network(List<String> command) {
    return command.size() > 1 ? command.get(1) : "";
  }

  /**
   * The fields that ask a command line that was made here.
   *
   * @param id of its study, which has the network where it is a file
   */
  public static Map<String, String> form(List<String> command, String id) {
    Map<String, String> form = new TreeMap<>();
    String name = network(command);
    form.put("model", name);
    if (UploadedNetwork.isName(name)) {
      form.put("network", id);
    }
    for (int i = 2; i < command.size(); i++) {
      String field = FLAGS.get(command.get(i));
      if (field != null && i + 1 < command.size()) {
        form.put(field, command.get(++i));
      } else if (command.get(i).equals("--front")) {
        form.put("front", "on");
      }
    }
    return form;
  }

  /** Without the program's name. */
  public List<String> command() {
    return List.copyOf(command);
  }

  /** The file to plan for, where the network has no name of ours. */
  public Optional<UploadedNetwork> network() {
    return network;
  }

  /** The same for the same command line, file and version: 20 hexadecimal digits of SHA-256. */
  public String id(String version) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((version + "\n" + String.join("\n", command)).getBytes(StandardCharsets.UTF_8));
      network.ifPresent(
          file -> digest.update(("\n" + file.text()).getBytes(StandardCharsets.UTF_8)));
      return HexFormat.of().formatHex(digest.digest()).substring(0, 20);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
