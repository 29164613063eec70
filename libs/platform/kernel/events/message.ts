/** A command or an event: its type, one greppable word, and its data. */
export type Message<Type extends string = string, Data = unknown> = { readonly type: Type; readonly data: Data };

/** The data of the message type `T` in the union `M`. */
export type DataOf<M extends Message, T extends M['type']> = Extract<M, { readonly type: T }>['data'];

/**
 * A table from message type to function. A missing or misspelt key does not compile, so a new event type makes the
 * compiler list every table that must handle it.
 */
export type HandlersByType<M extends Message, Rest extends readonly unknown[], Result> = {
  readonly [T in M['type']]: (data: DataOf<M, T>, ...rest: Rest) => Result;
};
