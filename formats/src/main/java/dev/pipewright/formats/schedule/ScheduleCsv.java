package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Schedules as PyTorch's {@code torch.distributed.pipelining} keeps them: a line for each rank, a
 * cell for each action, {@code 3F0} for stage 3's forward pass of micro-batch 0. {@code B} is a
 * whole backward pass, {@code I} and {@code W} its halves, {@code (0F7;7B3)OVERLAP_F_B} two that
 * run together; an empty cell says that a rank waits and is not kept. Files of older versions have
 * {@link OlderLetters}.
 *
 * <p>Files may also say what is sent and received, and when a stage's parameters are gathered from
 * replicas of the whole pipeline ({@code UNSHARD}), given up again ({@code RESHARD}) and its
 * gradients added up over them ({@code REDUCE_GRAD}). All that is checked but does not become part
 * of the {@link Schedule}, whose exchanges are those among the ranks of the file itself: here a
 * stage has one rank. Writing puts it where it always stands.
 */
public final class ScheduleCsv {
  private static final long MOST_OPS = 8L << 20; // forward passes of all stages
  private static final int MOST_ACTIONS = 1 << 21; // of all ranks
  private static final int LONGEST_LINE = 1 << 26; // characters
  private static final int HEAD = 1 << 16; // bytes that tell whose file it is
  private static final Pattern OVERLAP = Pattern.compile("\\(([^;()]*);([^;()]*)\\)OVERLAP_F_B");
  private static final Pattern FIRST_CELL =
      Pattern.compile(
          "[\\s,]*\\(?\\d+((F|B|I|W|BW|(SEND|RECV)_[FB])\\d+|UNSHARD)([,;][\\p{Print}\\s]*)?");

  private final Path file;
  private final List<List<ScheduleAction>> ranks = new ArrayList<>();
  private final List<Integer> lines = new ArrayList<>();
  private final boolean blocking;
  private int actions;

  private ScheduleCsv(Path file, boolean blocking) {
    this.file = file;
    this.blocking = blocking;
  }

  /** Whether a file looks like a schedule, judged by its first line that is not empty. */
  public static boolean isSchedule(Path file) {
    try (InputStream in = InputFile.open(file)) {
      String head = new String(in.readNBytes(HEAD), StandardCharsets.UTF_8);
      return head.replace("\uFEFF", "")
          .lines()
          .filter(line -> !line.isBlank())
          .findFirst()
          .filter(line -> FIRST_CELL.matcher(line).matches())
          .isPresent();
    } catch (BadInputException | IOException e) {
      return false; // not even readable
    }
  }

  /** Sends are buffered: none waits for its receive. */
  public static ScheduleFile read(Path file) {
    return read(file, false);
  }

  /**
   * Throws {@link BadInputException} when a cell is no action.
   *
   * @param blocking whether a send waits for its receive, as large messages do that pass through
   *     one NCCL stream
   */
  public static ScheduleFile read(Path file, boolean blocking) {
    ScheduleCsv csv = new ScheduleCsv(file, blocking);
    try (TextLines text = TextLines.open(file, "a schedule", LONGEST_LINE)) {
      for (@Nullable String line = text.next(); line != null; line = text.next()) {
        if (!line.isBlank()) {
          csv.ranks.add(csv.actions(line, text.number()));
          csv.lines.add(text.number());
        }
      }
    }
    return csv.checked();
  }

  /**
   * Reads a schedule from lines of another file.
   *
   * @param name for messages
   */
  public static ScheduleFile of(Path name, List<String> lines) {
    ScheduleCsv csv = new ScheduleCsv(name, false);
    for (String line : lines) {
      csv.lines.add(csv.lines.size() + 1);
      csv.ranks.add(csv.actions(line, csv.lines.size()));
    }
    return csv.checked();
  }

  private List<ScheduleAction> actions(String line, int number) {
    List<ScheduleAction> actions = new ArrayList<>();
    for (int from = 0; from <= line.length(); ) {
      int comma = line.indexOf(',', from);
      int to = comma < 0 ? line.length() : comma;
      String cell = line.substring(from, to);
      if (!cell.isBlank()) {
        int column = from + cell.indexOf(cell.strip()) + 1;
        cell(cell.strip(), number, column, actions);
        if (this.actions + actions.size() > MOST_ACTIONS) {
          throw BadInputException.at(
              file,
              number,
              "holds more actions than can be checked; take at most %d in all"
                  .formatted(MOST_ACTIONS));
        }
      }
      from = to + 1;
    }
    this.actions += actions.size();
    return actions;
  }

  private void cell(String cell, int line, int column, List<ScheduleAction> actions) {
    Matcher both = OVERLAP.matcher(cell);
    if (!both.matches()) {
      actions.add(ScheduleAction.of(file, line, column, cell, false));
      return;
    }
    for (int part = 1; part <= 2; part++) {
      String text = both.group(part);
      int at = column + both.start(part) + text.indexOf(text.strip());
      ScheduleAction action = ScheduleAction.of(file, line, at, text.strip(), part == 1);
      if (!action.kind().computes()) {
        throw BadInputException.at(
            file,
            line,
            at,
            "'%s' cannot overlap; overlap a forward with a backward pass".formatted(action));
      }
      actions.add(action);
    }
  }

  private ScheduleFile checked() {
    boolean older = OlderLetters.areIn(file, ranks);
    if (older) {
      ranks.forEach(rank -> rank.replaceAll(OlderLetters::today));
    }
    int stages = 0;
    int microBatches = 0;
    boolean transfers = false;
    for (List<ScheduleAction> rank : ranks) {
      for (ScheduleAction action : rank) {
        stages = Math.max(stages, action.stage() + 1);
        microBatches = Math.max(microBatches, action.microBatch() + 1);
        transfers |= !action.kind().computes() && !action.kind().ofStage();
      }
    }
    if (stages == 0) {
      throw BadInputException.at(
          file, 1, "holds no action; write a line for each rank, like 0F0,0B0");
    }
    if ((long) stages * microBatches > MOST_OPS) {
      throw BadInputException.at(
          file,
          1,
          "names %d stages and %d micro-batches, more than can be checked; take at most %d in all"
              .formatted(stages, microBatches, MOST_OPS));
    }
    int[] rankOf = rankOf(stages);
    List<FileProblem> nowhere = FileProblem.nowhere(file, rankOf, stages);
    Arrays.setAll(rankOf, stage -> Math.max(0, rankOf[stage]));
    Placement placement = Placement.of(ranks.size(), 1, rankOf);
    Schedule schedule = new Schedule(file.toString(), placement, microBatches, programs());
    ScheduleFile read =
        new ScheduleFile(
            file,
            schedule,
            places(),
            transfers,
            older,
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            nowhere);
    if (read.problems().isEmpty()) {
      new ScheduleStageActions(file, schedule.placement(), ranks).problems().forEach(read::add);
      if (transfers) {
        new ScheduleTransfers(file, schedule.placement(), ranks, blocking)
            .problems()
            .forEach(read::add);
      }
    }
    return read;
  }

  /** A stage belongs to the rank that first computes it; −1 where none does. */
  private int[] rankOf(int stages) {
    int[] rankOf = new int[stages];
    Arrays.fill(rankOf, -1);
    for (int rank = 0; rank < ranks.size(); rank++) {
      for (ScheduleAction action : ranks.get(rank)) {
        if (action.kind().computes() && rankOf[action.stage()] < 0) {
          rankOf[action.stage()] = rank;
        }
      }
    }
    return rankOf;
  }

  private long[][] programs() {
    long[][] programs = new long[ranks.size()][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] =
          ranks.get(rank).stream()
              .filter(action -> action.kind().computes())
              .mapToLong(ScheduleCsv::packed)
              .toArray();
    }
    return programs;
  }

  private static long packed(ScheduleAction action) {
    long op = Schedule.pack(action.kind().pass(), action.stage(), action.microBatch());
    return action.joined() ? Schedule.joined(op) : op;
  }

  private OpPlaces places() {
    int[][] opLines = new int[ranks.size()][];
    int[][] columns = new int[ranks.size()][];
    for (int rank = 0; rank < opLines.length; rank++) {
      opLines[rank] = each(ranks.get(rank), ScheduleAction::line);
      columns[rank] = each(ranks.get(rank), ScheduleAction::column);
    }
    return new OpPlaces(lines.stream().mapToInt(line -> line).toArray(), opLines, columns);
  }

  private static int[] each(List<ScheduleAction> actions, ToIntFunction<ScheduleAction> what) {
    return actions.stream().filter(action -> action.kind().computes()).mapToInt(what).toArray();
  }

  /** Compute only: a line for each rank, without empty cells; read back, the same schedule. */
  public static String text(Schedule schedule) {
    checkKnown(schedule);
    StringBuilder text = new StringBuilder();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      String separator = "";
      boolean second = false;
      for (long op : schedule.packed(rank)) {
        boolean first = !second && Schedule.isJoined(op);
        text.append(second ? ";" : separator)
            .append(first ? "(" : "")
            .append(ScheduleAction.word(op));
        text.append(second ? ")OVERLAP_F_B" : "");
        second = first;
        separator = ",";
      }
      text.append('\n');
    }
    return text.toString();
  }

  /** The text with sends and receives, gathers before and reductions after. */
  public static String textWithTransfers(Schedule schedule) {
    checkKnown(schedule);
    return ScheduleTransferText.of(schedule);
  }

  private static void checkKnown(Schedule schedule) {
    if (schedule.placement().chains() > 1) {
      throw new BadInputException(
          schedule.name()
              + " runs two pipelines at once, which PyTorch's files cannot say; take dualpipev");
    }
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (long op : schedule.packed(rank)) {
        String unknown = unknown(Schedule.pass(op));
        if (!unknown.isEmpty()) {
          throw new BadInputException(
              schedule.name()
                  + " "
                  + unknown
                  + ", which PyTorch's files cannot say; take one that does not, or --json");
        }
      }
    }
  }

  /** What a schedule with this pass does that PyTorch's files have no action for. */
  private static String unknown(Pass pass) {
    return switch (pass) {
      case FORWARD, BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT -> "";
      case RECOMPUTE -> "recomputes";
      case UPDATE -> "updates parameters within its order";
      case REDUCE, GATHER, HAND_ON -> "exchanges parameters or gradients within its order";
    };
  }

  /** Replaces {@code file} by {@link #text}. */
  public static void write(Path file, Schedule schedule) {
    OutputFile.write(file, text(schedule));
  }
}
