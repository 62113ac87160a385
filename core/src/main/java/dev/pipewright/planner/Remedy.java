package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Optimizer;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What would have to change for a network that does not fit.
 *
 * <p>As a last resort every stage may hold a single micro-batch (GPipe always holds all). It then
 * needs what its layers need with one micro-batch in flight, with and without recomputation,
 * wherever it stands in the pipeline. So the smallest memory is that of the best cut of the chain
 * into stages, found exactly: bisection over the memory; for each, the fewest devices that hold the
 * layers up to each position, O(positions² · stage sizes). One copy of the pipeline with the
 * smallest micro-batch is enough to look at: copies and larger micro-batches need as many devices
 * or more.
 */
public final class Remedy {
  /** The memory is found to this precision, then rounded up to what is printed. */
  private static final double PRECISION = 1.0005;

  private static final String[] PREFIXES = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};

  private final StageCosts costs;
  private final Request request;
  private final int microBatch;
  private final int inFlight; // micro-batches that a stage has to hold
  private final int[] sizes; // of stages, ascending

  private Remedy(StageCosts costs, Request request, int microBatch) {
    this.costs = Effort.searched(costs, request.stages().orElse(1));
    this.request = request;
    this.microBatch = microBatch;
    this.inFlight = gpipe(request) ? request.globalBatch() / microBatch : 1;
    int[] all =
        request.shape().oneDevicePerStage()
            ? new int[] {1}
            : Effort.stageSizes(costs.workload().cluster(), 1);
    this.sizes = Arrays.stream(all).filter(size -> size <= microBatch).sorted().toArray();
  }

  /** Says why nothing fits and the smallest memory per device with which something would. */
  public static String sentence(StageCosts costs, Request request) {
    return sentence(costs, request, Double.POSITIVE_INFINITY);
  }

  /**
   * The same where plans of another kind need {@code otherBytes}, perhaps less than hybrids of data
   * and pipeline parallelism.
   */
  static String sentence(StageCosts costs, Request request, double otherBytes) {
    Workload workload = costs.workload();
    Bytes largest = Bytes.ZERO;
    for (var device : workload.cluster().devices()) {
      largest = largest.compareTo(device.memory()) < 0 ? device.memory() : largest;
    }
    Remedy remedy = new Remedy(costs, request, request.microBatch().orElse(1));
    if (gpipe(request) && request.microBatch().isEmpty()) {
      Remedy other = new Remedy(costs, request, request.globalBatch());
      remedy = other.smallestMemory() < remedy.smallestMemory() ? other : remedy;
    }
    double hybrids = remedy.smallestMemory();
    double enough = Math.min(hybrids, otherBytes);
    String layer = enough < hybrids ? "" : remedy.tooLarge(costs, (double) largest.value());
    List<String> others = new ArrayList<>();
    if (layer.isEmpty() && request.shape() != Shape.DATA_PARALLEL) {
      others.add("more devices");
    }
    if (remedy.microBatch > 1) {
      others.add("a smaller micro-batch");
    }
    if (workload.training().optimizer() != Optimizer.SGD) {
      others.add("an optimizer that keeps less");
    }
    return layer
        + "the devices have up to "
        + largest
        + " each; "
        + roundedUp(enough)
        + " on each of the "
        + workload.cluster().size()
        + " would do"
        + (others.isEmpty() ? "" : ", or " + listed(others));
  }

  /** Whether only GPipe may be used, which holds all micro-batches at once. */
  private static boolean gpipe(Request request) {
    return request.policies().equals(List.of(PipelinePolicy.ALL));
  }

  private static String listed(List<String> words) {
    int last = words.size() - 1;
    String before = String.join(", ", words.subList(0, last));
    return before + (before.isEmpty() ? "" : " or ") + words.get(last);
  }

  /** The largest layer if no device holds it; otherwise nothing. */
  private String tooLarge(StageCosts fine, double capacity) {
    int slice = slice(sizes[sizes.length - 1]);
    int worst = 0;
    for (int i = 1; i < fine.size(); i++) {
      worst = alone(fine, i, slice) > alone(fine, worst, slice) ? i : worst;
    }
    double bytes = alone(fine, worst, slice);
    if (bytes <= capacity) {
      return "";
    }
    int[] added = fine.workload().chain().added(worst);
    String name = fine.workload().chain().graph().layer(added[added.length - 1]).name();
    return "layer " + worst + " (" + name + ") alone needs " + roundedUp(bytes) + "; ";
  }

  private double alone(StageCosts costs, int layer, int slice) {
    return bytes(costs, layer, layer + 1, slice);
  }

  /**
   * With as few micro-batches in flight as the schedule allows; recomputed where that takes less.
   */
  private double bytes(StageCosts costs, int first, int end, int slice) {
    double kept = inFlight * costs.heldBytes(first, end, slice);
    double again =
        request.recomputation() == Recomputation.NEVER
            ? kept
            : inFlight * costs.inputBytes(first, slice)
                + request
                    .recomputation()
                    .beyondInputs(costs.recomputedBytes(first, end, slice), inFlight);
    return costs.staticBytes(first, end) + costs.workingBytes(slice) + Math.min(kept, again);
  }

  private int slice(int devices) {
    return StageCosts.slice(microBatch, devices);
  }

  private double smallestMemory() {
    double low = 1;
    double high = bytes(costs, 0, costs.size(), slice(sizes[0])) + 1; // all layers on one device
    while (high / low > PRECISION) {
      double middle = Math.sqrt(low * high);
      if (fits(middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private boolean fits(double capacity) {
    int devices = costs.workload().cluster().size();
    int[] none = new int[costs.size() + 1]; // devices for the positions before
    Arrays.fill(none, 1, none.length, devices + 1);
    if (request.stages().isEmpty()) {
      extend(none, none, capacity);
      return none[costs.size()] <= devices;
    }
    int[] fewest = none;
    for (int stage = 0; stage < request.stages().getAsInt(); stage++) {
      int[] longer = new int[costs.size() + 1];
      Arrays.fill(longer, devices + 1);
      extend(fewest, longer, capacity);
      fewest = longer;
    }
    return fewest[costs.size()] <= devices;
  }

  /**
   * Puts a stage after every prefix that there is.
   *
   * @param before the fewest devices for the positions before each end
   * @param fewest the same with that stage, which may be {@code before} itself: any number of them
   */
  private void extend(int[] before, int[] fewest, double capacity) {
    int devices = costs.workload().cluster().size();
    for (int end = 1; end <= costs.size(); end++) {
      int from = request.shape() == Shape.DATA_PARALLEL ? 0 : end - 1;
      for (int first = from; first >= 0; first--) {
        if (costs.staticBytes(first, end) > capacity) {
          break;
        }
        int room = Math.min(devices + 1, fewest[end]) - before[first];
        if (room > 0 && costs.isStage(first, end)) {
          for (int size : sizes) {
            if (size >= room) {
              break;
            }
            if (bytes(costs, first, end, slice(size)) <= capacity) {
              fewest[end] = before[first] + size;
              break;
            }
          }
        }
      }
    }
  }

  /** Three digits or more that are no less, so that what is printed is enough. */
  public static String roundedUp(double bytes) {
    int power = 0;
    double size = bytes;
    while (size >= 1024 && power < PREFIXES.length - 1) {
      size /= 1024;
      power++;
    }
    double grain = size >= 100 ? 1 : size >= 10 ? 0.1 : 0.01;
    double up = Math.ceil(size / grain) * grain;
    String digits = size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, digits + " %sB", up, PREFIXES[power]);
  }
}
