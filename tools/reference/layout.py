# SPDX-License-Identifier: Apache-2.0
"""The order of the reference: pages, their sections, and the headers of each section, by path below include/twill.

The first pattern that fits a header decides, so pages and sections stand from the special to the general; one with `#` after the
header is for names of it, and decides before all others. A section in `rows`
is a table of functions; others have a heading for each name. A header that no pattern fits is a fault.
"""

from dataclasses import dataclass, field

# Names of other pages' headers that only own operations, rules, devices and communicators meet.
EXTENDING = [
    r"algorithms::.*",
    r"compile::([a-z]\w*|Call|GradientCall|Traceable)",
    r"copy_bytes|pull_bytes|require_exists|require_same_device|launch|current_queue|forget_stream|with_device|visit_device",
    r"data::(Batches|Prefetch\w*|SampleDraws|batch_count|row_dims|ImageSource|PixelValue|IdxScalar|Column)",
    r"gpu::(Source|SegmentUpstream|StreamKey|PoolStreams|ChoicesOfRun|choice_\w+|ChoiceKey|library_\w+|source_of_segments)",
    r"gpu::(fail|check|Runtime|Properties|Capturing|Status|current_stream|SlowChoice)",
    r"graph::(with_rule|run_scalar|seed_scalar|step_scalar|broadcast_shape|InputExtent|lower_triangle|gradients|widened)",
    r"graph::(copy_to_rule|rank_scalar|rank_along|to_slot|activated_product|biased_product|rank_sum|Named?Extent|NamedExtent)",
    r"io::(checked_bytes|require_truth_values|\w+_folder|names_in|folder_of|remove_file|FileFault|set_file_fault|plan_of)",
    r"io::(npy_header|in_order|max_header_bytes|is_\w+|ShardIndex|TensorPlan)",
    r"memory::(numbered_snapshot|current_calls|CallStack|format_bytes|summary_table|fragmentation_text|ObservedPool)",
    r"nn::(apply|trace_within_budget|require_loadable|Tracked|AnyTracked|StageOperand|CallStage|Weights|HookList|NetworkHooks|hooks_t)",
    r"nn::(unfitted_t|ForeignTensor|SplitRegion|renumbered_stages)",
    r"nn::initialise::(fan_in_uniform|layers_own|chosen|Fan)",
    r"optim::(declare_states|is_scaled_scalar|ScaledRule)",
    r"parallel::(places_of|fill_buckets|run_on_replicas|common_rows|scattered|Replicas|Scatterable|piece_shape_t|run_together)",
    r"parallel::(whole_tensor|part_of_stored|is_mesh|MpiWire|Call\w*|ConstElements|Elements|elements|ElementRange|clock_offset|ShardRange)",
    r"parallel::(ClockOffset|BasicNcclCommunicator|rows_of|chunk_rows|Rows)",
    r"pipeline::(rows_among|run|Message|StageRunner|RankPeers|gather_timeline|forward_schedule|can_keep_orders)",
    r"pipeline::(operations_per_byte_sent|most_stages|cut_places|evaluation_places|stage_reports|KeptWeights|Cut(Kind|Model|Places|Stage))",
    r"pipeline::(letters|is_computed|is_sent|counterpart|kinds_of_work|with_transfers|add_messages|messages_of|sentence)",
    r"pipeline::(verify_computation|least_micro_batches|multiple_of|with::.*|RankPlaces|SizesOr32)",
    r"profile::(core_times\w*|CoreTimes|load_between|gpu_\w+|GpuRow|host_table|process_table|machine_text|width_of|escape_xml)",
    r"profile::(nice_ticks|Svg\w*|Ticks|words_of|no_event|lives_of|MemoryLi\w+|TraceEvents|SourcePlaces|ProgressValue)",
    r"training::(RuleNumbers|OptimiserState|(Any)?StepProgram|ForwardOf|StepOf|AccumulateGradients|UpdateFromSums)",
    r"describe_visible_devices|refused|on|stream_of|working_memory|BasicInput",
    r"activate(_again)?|each_alone_by_environment|restore_device|gpu::is_captured|counted_bytes|read_item|reader_of|rest_of_double",
    r"graph::(add_channel_bias|attention_\w+|check_attention\w*|compute_again|join|mean_over|most_parts|normaliser|reduce)",
    r"graph::(beside|copied_to|on_ranks)|parallel::MpiEndpoint|pipeline::(StateCheck|state_key|mailboxes|postings|channels)",
    r"nn::(compare|described|match|require_permitted|tracked_set)|training::(continues_scalar|declare_sums|sum_scale_scalar)",
]

# Types that programs get from a function and do not construct.
MADE_BY = {
    "optim::Maximized": "optim::maximize",
    "optim::Averaged": "optim::averaged",
    "optim::ClipNorm": "optim::clip_norm",
    "optim::ClipValue": "optim::clip_value",
    "optim::LossScaled": "optim::loss_scaled",
    "optim::Groups": "optim::groups",
    "optim::Scheduled": "optim::scheduled",
    "optim::Chained": "optim::then",
    "training::TrainStep": "train_step",
    "training::StepLoss": "step(x, label)",
    "training::AccumulatedStep": "accumulated_step",
    "training::SamStep": "sam_step",
    "optim::SamAscent": "sam_step",
    "training::LbfgsStep": "lbfgs_step",
    "data::GeneratedDataset": "data::generated_dataset",
    "data::ImageDataset": "data::image_dataset",
    "data::Compose": "data::compose",
    "parallel::BasicCommunicator": "parallel::thread_communicators",
    "parallel::StartedCall": "communicator.start(call)",
    "parallel::GatheredOutput": "model.forward(x)",
    "parallel::DataParallelStep": "train_step",
    "parallel::DistributedStep": "train_step",
    "parallel::ReproducibleStep": "train_step",
    "parallel::ReproducibleNetworkStep": "train_step",
    "parallel::ReproducibleReplicasStep": "train_step",
    "parallel::TensorParallelStep": "train_step",
    "parallel::MeshGroups": "parallel::over",
    "parallel::ElasticReport": "parallel::run_elastic",
    "parallel::RankFailure": "parallel::run_elastic",
    "pipeline::PipelineStep": "train_step",
    "pipeline::ReproduciblePipelineStep": "train_step",
    "pipeline::ReproducibleRankStep": "train_step",
    "pipeline::RankStep": "train_step",
    "pipeline::PipelineInference": "pipeline::inference",
    "pipeline::RankInference": "pipeline::inference",
    "nn::Moved": "nn::to",
    "nn::HookHandle": "model.on_forward(f)",
    "gpu::CapturedGraph": "gpu::capture",
    "RandomGenerator": "generator(device)",
    "Pending": "submit(device, f)",
}

# Errors, and what throws them.
THROWN_BY = {
    "GpuError": "a call of the driver",
    "PartialUpdateError": "a step on a GPU that fails halfway",
    "OutOfMemoryError": "a pool without memory",
    "parallel::CommunicatorError": "calls of a group that broke down",
    "parallel::ElasticError": "parallel::run_elastic",
}

# Names without a line of code, by the reason.
WITHOUT_CODE = {
    "view_as": "no library of C++20 has std::mdspan",
}


@dataclass
class Section:
    title: str
    headers: list[str]
    rows: bool = False     # one line of a table for each name
    needs_code: bool = True
    types_need_code: bool = False  # also structs without constructors, which programs write


@dataclass
class Page:
    file: str
    title: str
    opening: str
    guide: str             # a guide below docs/
    sections: list[Section] = field(default_factory=list)


PAGES = [
    Page("tensors", "Tensors", "Tensors, functions of them, and expressions that fuse into one kernel.", "tensors.md", [
        Section("Types and shapes", ["tensor/tensor.hpp", "core/dtype.hpp", "core/shape.hpp", "core/half.hpp", "core/float8.hpp", "core/complex.hpp",
                                     "core/promotion.hpp", "tensor/shapes.hpp", "tensor/extents.hpp"]),
        Section("Creation", ["tensor/create.hpp", "tensor/like.hpp", "tensor/sequence.hpp", "expr/grids.hpp"], rows=True),
        Section("Random numbers", ["tensor/random.hpp", "expr/draws.hpp", "expr/distributions.hpp",
                                   "expr/sampling.hpp", "expr/point_sets.hpp"], rows=True),
        Section("Reading and printing", ["tensor/access.hpp", "tensor/print.hpp", "tensor/source.hpp"]),
        Section("Views and shapes of tensors", ["tensor/views.hpp", "tensor/split.hpp", "tensor/layout.hpp",
                                                "tensor/index.hpp"], rows=True),
        Section("Joining, repeating, padding", ["expr/join.hpp", "expr/repeat.hpp", "expr/pad.hpp", "expr/triangles.hpp"],
                rows=True),
        Section("Indexing", ["expr/take.hpp", "expr/masks.hpp", "expr/put.hpp"], rows=True),
        Section("Arithmetic", ["elementwise/arithmetic.hpp"], rows=True),
        Section("Comparison, logic and bits", ["elementwise/comparison.hpp"], rows=True),
        Section("Real functions", ["elementwise/real.hpp"], rows=True),
        Section("Complex numbers", ["expr/complex_functions.hpp", "tensor/complex_views.hpp"], rows=True),
        Section("Rounding and floating-point numbers", ["elementwise/floating.hpp", "expr/functions.hpp"], rows=True),
        Section("Operators", ["expr/operators.hpp"]),
        Section("Reductions", ["expr/reductions.hpp", "expr/statistics.hpp", "expr/quantile.hpp", "expr/quantile_place.hpp", "expr/norms.hpp", "core/axes.hpp#NormOrder", "core/axes.hpp#order",
                               "core/axes.hpp#order_inf", "core/axes.hpp#order_negative_inf", "expr/distances.hpp"], rows=True),
        Section("Running sums and differences", ["expr/cumulative.hpp"], rows=True),
        Section("Rows", ["expr/rowwise.hpp", "expr/normalise.hpp"], rows=True),
        Section("Products", ["expr/matmul.hpp", "expr/products.hpp", "expr/einsum.hpp"], rows=True),
        Section("Sorting and searching", ["algorithms/sort.hpp", "algorithms/select.hpp", "algorithms/search.hpp",
                                          "algorithms/unique.hpp", "algorithms/sets.hpp",
                                          "algorithms/partition.hpp", "algorithms/sampled.hpp", "core/samples.hpp", "algorithms/policy.hpp", "algorithms/on.cuh"]),
        Section("Functions of models", ["nn/eager.hpp", "nn/eager_volumes.hpp"], rows=True),
        Section("Expressions", ["expr/evaluate*.hpp", "expr/out.hpp", "expr/map.hpp", "expr/plan*.hpp"]),
        Section("Functions and their gradients", ["compile/function.hpp", "compile/transforms.hpp", "compile/vmap.hpp"]),
        Section("Other libraries", ["tensor/borrowed.hpp", "tensor/dlpack.hpp", "tensor/gpu/*", "tensor/cuda/*"]),
    ]),
    Page("models", "Models", "Layers, losses, activations and first values, as functions inside `forward`, and the networks "
         "that hold weights.", "training.md", [
        Section("Losses", ["nn/losses/classification.hpp", "nn/losses/regression.hpp", "nn/losses/margin.hpp",
                            "nn/losses/likelihood.hpp", "nn/losses/ctc.hpp", "nn/losses/concatenated_ctc.hpp", "nn/losses/loss.hpp"]),
        Section("Layers", ["nn/linear.hpp", "nn/embedding.hpp", "nn/embedding_bag.hpp", "nn/convolution.hpp", "nn/pooling.hpp", "ops/pooling.hpp",
                           "nn/convolution3d.hpp", "nn/transposed_convolution3d.hpp", "ops/pooling3d.hpp",
                           "nn/dropout.hpp", "nn/gates.hpp#prelu", "nn/gates.hpp#PreluOptions"]),
        Section("Norms", ["nn/batch_norm.hpp", "nn/norm_layers.hpp", "nn/local_response_norm.hpp", "nn/spectral_norm.hpp",
                          "nn/weight_norm.hpp"]),
        Section("Attention", ["nn/attention.hpp", "nn/transformer.hpp"]),
        Section("Mixtures of experts", ["nn/mixture_of_experts.hpp", "nn/auxiliary_loss.hpp"]),
        Section("Recurrent layers", ["nn/recurrent*.hpp", "nn/projected_lstm.hpp"]),
        Section("Activations", ["elementwise/activations.hpp", "nn/activations.hpp", "nn/gates.hpp", "nn/normalisation.hpp"], rows=True),
        Section("First values of weights", ["nn/initialisers.hpp"], rows=True),
        Section("Inputs, weights and names", ["graph/input.hpp", "nn/parameter.hpp", "nn/buffer.hpp",
                                              "graph/value.hpp#Scope", "nn/tap.hpp"]),
        Section("Networks", ["nn/network.hpp", "nn/moved.hpp", "nn/slot.hpp", "nn/no_grad.hpp", "nn/tracked.hpp", "nn/tracked_functions.hpp",
                             "nn/hooks.hpp", "nn/hooked.hpp", "nn/autocast.hpp", "nn/fit.hpp", "nn/max_norm.hpp"]),
        Section("State dictionaries", ["nn/state_dict.hpp", "nn/stored_tensor.hpp", "nn/state_names.hpp"]),
        Section("Functions of values", ["graph/reductions.hpp", "graph/shape_functions.hpp", "graph/operators.hpp",
                                        "graph/random.hpp", "ops/attention.hpp", "ops/concatenate.hpp",
                                        "ops/convolution.hpp", "ops/convolution3d.hpp", "ops/transposed_convolution.hpp", "ops/transposed_convolution3d.hpp", "ops/cumsum.hpp",
                                        "ops/cumprod.hpp", "ops/einsum.hpp", "ops/norms.hpp", "ops/padded_rows.hpp", "ops/patches.hpp", "ops/repeat.hpp",
                                        "ops/gather.hpp", "ops/interpolate.hpp", "ops/resample.hpp", "ops/grid_sample.hpp", "ops/sides3.hpp", "ops/matmul.hpp", "ops/pad.hpp",
                                        "ops/slice.hpp", "ops/sort.hpp", "ops/split.hpp", "ops/triangles.hpp"], rows=True),
        Section("Statistics in models", ["ops/value_statistics.hpp", "ops/value_quantiles.hpp", "ops/value_diagonals.hpp",
                                         "ops/value_samples.hpp", "ops/value_search.hpp", "ops/value_windows.hpp"], rows=True),
        Section("Random draws in models", ["ops/value_draws.hpp"], rows=True),
        Section("Gradients, loops and checkpoints", ["graph/gradient.hpp", "graph/scan.hpp", "graph/checkpoint.hpp",
                                                      "graph/checkpoint_sequential.hpp"]),
    ]),
    Page("linear_algebra", "Linear algebra", "Decompositions and solvers of matrices and stacks of them, of tensors and in models, "
         "with gradients.", "linear_algebra.md", [
        Section("Solvers", ["linalg/lu.hpp", "linalg/triangular.hpp", "linalg/cholesky.hpp", "linalg/reported.hpp",
                            "linalg/least_squares.hpp"], rows=True),
        Section("Decompositions", ["linalg/qr.hpp", "linalg/svd.hpp", "linalg/eigh.hpp", "linalg/eig.hpp"], rows=True),
        Section("Functions of matrices", ["linalg/matrix_functions.hpp", "linalg/norms.hpp"], rows=True),
        Section("For functions of one's own", ["linalg/*"], needs_code=False),
    ]),
    Page("fft", "Fourier transforms", "Fourier and cosine transforms of tensors, their frequencies, and convolutions by them; Fourier "
         "transforms and complex numbers in models, with gradients.",
         "fft.md", [
        Section("Transforms along one axis", ["fft/transforms.hpp", "fft/norm.hpp"], rows=True),
        Section("Several axes", ["fft/several_axes.hpp"], rows=True),
        Section("Cosine transforms", ["fft/cosine.hpp"], rows=True),
        Section("Frequencies", ["fft/frequencies.hpp"], rows=True),
        Section("Convolutions", ["fft/convolve.hpp", "fft/convolve_part.hpp"], rows=True),
        Section("In models", ["fft/value_transforms.hpp", "fft/value_several_axes.hpp", "fft/value_convolve.hpp", "fft/value_cosine.hpp"], rows=True),
        Section("Complex numbers in models", ["ops/complex_value.hpp", "ops/complex_functions.hpp", "ops/complex_moves.hpp"], rows=True),
    ]),
    Page("sparse", "Sparse matrices", "CSR matrices of tensors and in models: from and to dense matrices and coordinates, "
         "products and their gradients.", "sparse.md", [
        Section("Sparse matrices", ["sparse/csr_matrix.hpp", "sparse/assembly.hpp", "sparse/print.hpp"], types_need_code=True),
        Section("Products, sums and scaling", ["sparse/arithmetic.hpp"], rows=True),
        Section("In models", ["sparse/csr_value.hpp"], rows=True),
    ]),
    Page("optimisers", "Optimisers and schedules", "Rules that update weights, what wraps them, and schedules of their rate.",
         "training.md", [
        Section("Rules", ["optim/sgd.hpp", "optim/adam.hpp", "optim/rmsprop.hpp", "optim/lamb.hpp", "optim/adaptive.hpp",
                          "optim/adafactor.hpp", "optim/muon.hpp"],
                types_need_code=True),
        Section("Around rules", ["optim/clip.hpp", "optim/loss_scale.hpp", "optim/groups.hpp", "optim/maximize.hpp",
                                  "optim/averaged.hpp"]),
        Section("Schedules", ["optim/schedules.hpp"], types_need_code=True),
        Section("Functions of many numbers", ["optim/lbfgs.hpp"]),
    ]),
    Page("training", "Training", "Steps, planned or in stages, accumulation, and reports on compiled models.", "training.md", [
        Section("Steps", ["training/train_step.hpp", "training/accumulation.hpp", "training/optimiser.hpp",
                          "training/sam_step.hpp", "training/lbfgs_step.hpp", "optim/sam.hpp"]),
        Section("Rates and stopping", ["training/rate_finder.hpp", "training/early_stopping.hpp"]),
        Section("Summaries and plans", ["training/summary.hpp", "training/inspect.hpp", "training/fit_report.hpp", "compile/*/*"]),
        Section("Options of rules in checkpoints", ["training/rule_options.hpp"], needs_code=False),
    ]),
    Page("data", "Data and files", "Data sets, loaders and transforms, and the files that twill reads and writes.", "data.md", [
        Section("Data sets", ["data/dataset.hpp", "data/tensor_dataset.hpp", "data/fashion_mnist.hpp", "data/idx.hpp",
                              "data/image_dataset.hpp", "data/image.hpp"]),
        Section("Loaders and samplers", ["data/loader.hpp", "data/sampler.hpp", "data/prefetch.hpp"]),
        Section("Transforms of images", ["data/transforms.hpp", "data/color_jitter.hpp", "data/rotation.hpp",
                                         "data/random_regions.hpp"], types_need_code=True),
        Section("Mixed batches", ["data/mixing.hpp"]),
        Section("Tables", ["io/csv.hpp"]),
        Section("Images and tokens", ["io/image*.hpp", "io/jpeg.hpp", "io/png.hpp", "io/tokens.hpp"]),
        Section("Arrays", ["io/npy.hpp", "io/npz.hpp", "io/sparse_npz.hpp"]),
        Section("Weights and checkpoints", ["io/safetensors.hpp", "io/sharded.hpp", "io/stored.hpp", "io/checkpoint.hpp",
                                            "io/checkpoint_folder.hpp", "io/training.hpp"]),
        Section("Files", ["io/files.hpp", "io/atomic_file.hpp", "io/checked.hpp"]),
    ]),
    Page("parallel", "Parallel training", "Replicas, ranks, collectives, meshes and pipelines.", "parallel.md", [
        Section("Data parallel", ["parallel/data/*"]),
        Section("Context parallelism", ["nn/ring_attention.hpp", "ops/ring_*", "parallel/model/ring_attention_bytes.hpp"]),
        Section("Meshes and models on them", ["parallel/group/mesh.hpp", "parallel/model/*"]),
        Section("Tensor parallel layers", ["nn/tensor_parallel.hpp", "nn/tensor_attention.hpp", "nn/losses/sharded.hpp", "nn/sharded.hpp",
                                           "nn/expert_parallel.hpp", "ops/all_to_all.hpp",
                                           "ops/collective.hpp", "graph/ranks.hpp"]),
        Section("Ranks and communicators", ["parallel/threads/*", "parallel/messages/mpi.hpp", "parallel/nccl/*",
                                            "parallel/group/communicator.hpp", "parallel/group/basic_communicator.hpp",
                                            "parallel/group/on_termination.hpp", "parallel/data/elastic_process.hpp#run_elastic"]),
        Section("Collectives", ["parallel/group/collectives.hpp"], rows=True),
        Section("Pipelines", ["parallel/pipeline/model/*", "parallel/pipeline/run/*", "nn/stage_boundary.hpp", "ops/move.hpp"]),
        Section("Schedules of pipelines", ["parallel/pipeline/schedule/*"]),
        Section("Will it fit", ["parallel/fit/*", "profile/fit_*.hpp", "training/peak_bytes.hpp", "core/decimal_bytes.hpp"]),
    ]),
    Page("memory_and_devices", "Memory and devices", "Devices, streams and random numbers of devices; pools of memory and what "
         "they report.", "memory.md", [
        Section("Devices", ["device/current.hpp", "device/cpu/cpu.hpp", "device/meta/meta.hpp", "device/cuda/*",
                            "device/cpu/partition.hpp", "device/names.hpp", "device/copy.hpp"]),
        Section("Streams and events", ["device/meta/meta.hpp#record|wait|synchronize|submit|Event", "device/cpu/stream.hpp", "device/cpu/pending.hpp", "device/gpu/stream.hpp",
                                       "memory/gpu/*"]),
        Section("Seeds of random numbers", ["device/generator.hpp"]),
        Section("Settings of GPUs", ["device/gpu/library*.hpp", "device/gpu/memory.hpp"]),
        Section("Memory in use", ["memory/statistics.hpp", "memory/summary.hpp", "memory/out_of_memory.hpp", "core/bytes.hpp"]),
        Section("Recordings of memory", ["memory/recording.hpp", "memory/snapshot.hpp", "memory/fragmentation.hpp",
                                         "memory/place.hpp"]),
        Section("Pools and their policies", ["memory/*", "memory/policies/*"], needs_code=False),
        Section("Errors and warnings", ["core/error.hpp", "device/gpu/runtime.hpp"]),
    ]),
    Page("profiling", "Profiling", "Traces, tables, plots and progress bars.", "profiling.md", [
        Section("Traces", ["profile/trace*.hpp", "profile/schedule_trace.hpp", "profile/measured_peaks.hpp"]),
        Section("Memory", ["profile/memory*.hpp", "profile/source_places.hpp"]),
        Section("Loads of devices", ["profile/device_table.hpp", "profile/cuda/*"]),
        Section("Progress and tables", ["profile/progress.hpp", "profile/confusion.hpp", "profile/metrics.hpp", "profile/table.hpp",
                                        "profile/format.hpp"]),
        Section("Drawings", ["profile/svg*.hpp", "profile/gantt.hpp", "profile/plan_drawing.hpp"]),
    ]),
    Page("extending", "Own operations, rules and devices", "The types that operations, rules, devices and communicators of "
         "one's own are written with; the guides on [operations](../how_to_add_an_operation.md), "
         "[devices](../how_to_add_a_device_kind.md) and [schedules](../how_to_add_a_schedule.md) have the code.",
         "architecture.md", [
        Section("Models, graphs and operations", ["graph/*", "ops/*", "ops/detail/*", "nn/*", "compile/*", "compile/*/*"], needs_code=False),
        Section("Rules and steps", ["optim/*", "training/*"], needs_code=False),
        Section("Kernels", ["kernel/*"], needs_code=False),
        Section("Sorting", ["algorithms/*"], needs_code=False),
        Section("Devices", ["device/*", "device/*/*", "expr/leaf.hpp", "elementwise/argument.hpp"], needs_code=False),
        Section("Memory", ["memory/*", "memory/*/*", "tensor/dlpack_types.hpp", "tensor/extents.hpp"], needs_code=False),
        Section("Data and files", ["data/*", "io/*"], needs_code=False),
        Section("Communicators and pipelines", ["parallel/*/*", "parallel/*/*/*"], needs_code=False),
        Section("Profiles", ["profile/*", "profile/*/*"], needs_code=False),
        Section("Numbers and texts", ["core/*"], needs_code=False),
    ]),
]
