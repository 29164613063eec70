import { Command, type ICommandHandler } from '@nestjs/cqrs';

/** The input of an operation, and the result that its promise resolves to. */
export type Operation<Input, Result> = { readonly input: Readonly<Input>; readonly result: Result };

type OperationTypes = Readonly<Record<string, Operation<unknown, unknown>>>;

/**
 * A function for each operation of an aggregate. If an operation is missing or misspelt, the table does not compile.
 */
export type OperationTable<O extends OperationTypes> = {
  readonly [T in keyof O]: (input: O[T]['input']) => Promise<O[T]['result']>;
};

/**
 * The base of command classes. Each aggregate has one command class; `type` names the operation, which determines the
 * types of the input and of the result.
 */
export abstract class AggregateCommand<O extends OperationTypes, T extends keyof O> extends Command<O[T]['result']> {
  constructor(
    readonly type: T,
    readonly input: O[T]['input'],
  ) {
    super();
  }
}

/** The base of command handlers. Each aggregate has one handler, which looks up the operation in its table. */
export abstract class AggregateHandler<O extends OperationTypes> implements ICommandHandler<
  AggregateCommand<O, keyof O>
> {
  protected abstract readonly operations: OperationTable<O>;

  execute<T extends keyof O>({ type, input }: AggregateCommand<O, T>): Promise<O[T]['result']> {
    return this.operations[type](input);
  }
}
