package dev.pipewright.profile;

import dev.pipewright.profile.RelativeLine.Fitted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cuts measured steps into contiguous pieces, each with a line of its own, so that the squared
 * relative errors of all add up to least.
 *
 * <p>Paper: R. Bellman, <i>On the approximation of curves by line segments using dynamic
 * programming</i>, CACM 4 (1961), doi:10.1145/366573.366611. Departs: whether two lines may follow
 * one another depends on both, so a state is the last piece and not only its end; the number of
 * pieces is that of the least criterion of J. Liu, S. Wu and J. V. Zidek, <i>On segmented
 * multivariate regression</i>, Statistica Sinica 7 (1997): Schwarz's with a larger penalty, because
 * a cut that is chosen among many fits noise better than a constant does.
 *
 * <p>A time may fall by no more than {@link #FALL} from one piece to the next, and a piece has at
 * least {@link #FEWEST} sizes. Exact, O(pieces · sizes³); above {@link #MOST_CUTS} sizes only so
 * many evenly spread cuts are tried.
 */
final class Segmentation {
  static final int MOST_PIECES = 4;
  static final int FEWEST = 3;
  static final double FALL = 0.05;
  private static final int MOST_CUTS = 240;
  private static final double PENALTY = 0.299; // theirs, as is the power
  private static final double POWER = 2.1;
  private static final double EXACT = 1e-12; // a millionth, squared: what is below is rounding

  private final TimeCurve times;
  private final int[] cuts; // points at which a piece may begin, and the end
  private final int[] sizes; // sizes before each cut
  private final Piece[][] pieces; // [first cut][end cut]

  /** Points {@code first..end-1} and the line through them. */
  record Piece(int first, int end, Fitted line) {}

  private Segmentation(TimeCurve times) {
    this.times = times;
    int[] starts = times.sizeStarts();
    int every = (starts.length - 2) / MOST_CUTS + 1;
    int count = (starts.length - 2) / every + 2;
    sizes = new int[count];
    Arrays.setAll(sizes, i -> Math.min(i * every, starts.length - 1));
    cuts = Arrays.stream(sizes).map(size -> starts[size]).toArray();
    pieces = new Piece[count][count];
    for (int from = 0; from < count - 1; from++) {
      RelativeLine line = new RelativeLine();
      for (int to = from + 1; to < count; to++) {
        for (int point = cuts[to - 1]; point < cuts[to]; point++) {
          line.add(times.bytes()[point], times.seconds()[point]);
        }
        pieces[from][to] = new Piece(cuts[from], cuts[to], line.fitted());
      }
    }
  }

  /** The pieces, ascending; one where no more are worth it. */
  static List<Piece> best(TimeCurve times) {
    Segmentation search = new Segmentation(times);
    List<Piece> best = List.of(search.pieces[0][search.cuts.length - 1]);
    double least = criterion(best, times.count());
    for (List<Piece> candidate : search.candidates()) {
      double value = criterion(candidate, times.count());
      if (value < least) {
        least = value;
        best = candidate;
      }
    }
    return best;
  }

  /** Two constants for each piece and one for each cut, against errors of unknown variance. */
  static double criterion(List<Piece> pieces, int points) {
    double squares = pieces.stream().mapToDouble(piece -> piece.line().squares()).sum();
    int parameters = 3 * pieces.size() - 1;
    return points * Math.log(Math.max(squares / points, EXACT))
        + parameters * PENALTY * Math.pow(Math.log(points), POWER);
  }

  /** The best cuts into two pieces, into three …, where there are any. */
  private List<List<Piece>> candidates() {
    int ends = cuts.length;
    double[][] squares = new double[ends][ends]; // [first cut][end cut] of the last piece
    for (double[] row : squares) {
      Arrays.fill(row, Double.POSITIVE_INFINITY);
    }
    for (int to = 1; to < ends; to++) {
      squares[0][to] =
          isLongEnough(0, to) ? pieces[0][to].line().squares() : Double.POSITIVE_INFINITY;
    }
    List<int[][]> before = new ArrayList<>();
    List<List<Piece>> candidates = new ArrayList<>();
    for (int count = 2; count <= MOST_PIECES; count++) {
      double[][] next = new double[ends][ends];
      before.add(extend(squares, next));
      squares = next;
      List<Piece> candidate = trace(squares, before);
      if (candidate != null) {
        candidates.add(candidate);
      }
    }
    return candidates;
  }

  /** Adds a piece behind every state; returns where the piece before it begins. */
  private int[][] extend(double[][] squares, double[][] next) {
    int ends = cuts.length;
    int[][] before = new int[ends][ends];
    for (int from = 0; from < ends; from++) {
      Arrays.fill(next[from], Double.POSITIVE_INFINITY);
      for (int to = from + 1; to < ends; to++) {
        if (!isLongEnough(from, to) || (to == ends - 1 && !pieces[from][to].line().rises())) {
          continue;
        }
        for (int start = 0; start < from; start++) {
          double sum = squares[start][from] + pieces[from][to].line().squares();
          if (sum < next[from][to] && follows(pieces[start][from], pieces[from][to], times)) {
            next[from][to] = sum;
            before[from][to] = start;
          }
        }
      }
    }
    return before;
  }

  private boolean isLongEnough(int from, int to) {
    return sizes[to] - sizes[from] >= FEWEST;
  }

  private @Nullable List<Piece> trace(double[][] squares, List<int[][]> before) {
    int to = cuts.length - 1;
    int from = 0;
    for (int i = 1; i < to; i++) {
      if (squares[i][to] < squares[from][to]) {
        from = i;
      }
    }
    if (Double.isInfinite(squares[from][to])) {
      return null;
    }
    List<Piece> trace = new ArrayList<>(List.of(pieces[from][to]));
    for (int i = before.size() - 1; i >= 0; i--) {
      int start = before.get(i)[from][to];
      to = from;
      from = start;
      trace.add(0, pieces[from][to]);
    }
    return trace;
  }

  /** Whether the time does not fall by more than a little between the two. */
  static boolean follows(Piece left, Piece right, TimeCurve times) {
    double size = border(left, right, times);
    return right.line().seconds(size) >= (1 - FALL) * left.line().seconds(size);
  }

  /** The largest message of the left piece: where the lines meet, or else halfway in logarithm. */
  static double border(Piece left, Piece right, TimeCurve times) {
    double below = times.bytes()[left.end() - 1];
    double above = times.bytes()[right.first()];
    double meeting =
        (right.line().latency() - left.line().latency())
            / (left.line().secondsPerByte() - right.line().secondsPerByte());
    return meeting >= below && meeting < above ? meeting : Math.sqrt(below) * Math.sqrt(above);
  }
}
