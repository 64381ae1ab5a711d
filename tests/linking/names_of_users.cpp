// SPDX-License-Identifier: Apache-2.0
//
// Names that programs often give to their own types, functions and constants, at global scope and used without a
// namespace after `using namespace twill`. A name that twill takes makes a use ambiguous, and this file does not compile.

#pragma GCC diagnostic ignored "-Wshadow" // variables of headers and these names

#include <twill/data.hpp>
#include <twill/io.hpp>
#include <twill/parallel.hpp>
#include <twill/profile.hpp>
#include <twill/twill.hpp>

using namespace twill;

// clang-format off
#define TYPES(use) \
  use(Accuracy) use(Action) use(Agent) use(Args) use(Batch) use(Block) use(Buffer) use(Cache) use(Category) \
  use(Cell) use(Channel) use(Classifier) use(Client) use(Clock) use(Color) use(Config) use(Context) use(Counter) \
  use(Data) use(Dataset) use(Decoder) use(Discriminator) use(Draw) use(Edge) use(Embedding) use(Encoder) use(Entry) \
  use(Environment) use(Episode) use(Epoch) use(Event) use(Example) use(Factory) use(Feature) use(Field) use(File) \
  use(Frame) use(Game) use(Generator) use(Graph) use(Grid) use(Head) use(Image) use(Index) use(Item) use(Job) \
  use(Key) use(Label) use(Layer) use(Line) use(Logger) use(Loss) use(Map) use(Mask) use(Matrix) use(Message) \
  use(Metrics) use(Mlp) use(Model) use(Net) use(Network) use(Neuron) use(Node) use(Object) use(Observation) \
  use(Optimizer) use(Options) use(Order) use(Output) use(Parameters) use(Params) use(Parser) use(Particle) \
  use(Point) use(Policy) use(Position) use(Predictor) use(Process) use(Queue) use(Record) use(Region) use(Report) \
  use(Request) use(Result) use(Row) use(Rule) use(Sample) use(Sampler) use(Scene) use(Sequence) use(Server) \
  use(Session) use(Settings) use(Simulation) use(Solver) use(Split) use(State) use(Stats) use(Step) use(Store) \
  use(Stream) use(Student) use(Summary) use(System) use(Table) use(Target) use(Task) use(Teacher) use(Time) \
  use(Timer) use(Token) use(Tokenizer) use(Trainer) use(Transaction) use(Transformer) use(Tree) use(User) use(Value) \
  use(Vector) use(Vertex) use(View) use(Visitor) use(Vocabulary) use(Weights) use(Window) use(Word) use(Worker)
#define FUNCTIONS(use) \
  use(accuracy) use(activate) use(backward) use(calculate) use(check) use(collate) use(compute) use(create) \
  use(decode) use(encode) use(evaluate) use(fit) use(forward) use(generate) use(infer) use(initialise) use(init) \
  use(load_data) use(load) use(loss_of) use(main_loop) use(make_batch) use(make_model) use(predict) use(prepare) \
  use(preprocess) use(print) use(process) use(read) use(report) use(reset) use(run) use(sample) use(save) use(score) \
  use(setup) use(show) use(solve) use(step) use(test) use(test_model) use(train) use(train_epoch) use(train_model) \
  use(train_one_epoch) use(update) use(validate) use(visualise) use(write)
#define OBJECTS(use) \
  use(batch_size) use(bias) use(channels) use(classes) use(count) use(depth) use(device) use(dimension) \
  use(dropout_rate) use(epochs) use(epsilon) use(features) use(height) use(hidden) use(iterations) \
  use(learning_rate) use(length) use(limit) use(momentum) use(n_classes) use(number_of_epochs) use(offset) use(path) \
  use(rate) use(rows) use(columns) use(samples) use(seed) use(size) use(steps) use(temperature) use(tolerance) \
  use(total) use(verbose) use(vocabulary) use(weights) use(width)
// clang-format on

#define DECLARE(name)                                                                                                  \
  struct name {                                                                                                        \
    int number = 1;                                                                                                    \
  };
TYPES(DECLARE)
#define DEFINE(name)                                                                                                   \
  int name(int number) { return number; }
FUNCTIONS(DEFINE)
#define HOLD(name) const int name = 1; // NOLINT
OBJECTS(HOLD)

int main() {
  int total_of_all = 0;
  int number_of_all = 0;
#define MAKE(name) total_of_all += name{}.number, ++number_of_all;
  TYPES(MAKE)
#define CALL(name) total_of_all += name(1), ++number_of_all;
  FUNCTIONS(CALL)
#define READ(name) total_of_all += name, ++number_of_all;
  OBJECTS(READ)
  return total_of_all == number_of_all ? 0 : 1;
}
