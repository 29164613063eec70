import { AggregateCommand, type Operation } from '#storage/event-store';
import type { EventContext, Sql } from '#platform/kernel';
import { deleteAllMethods } from './secrets.queries.js';
import type { SignInMethodsCommand, SignInPerson } from './sign-in-methods.js';

export type MethodsChange = {
  readonly user: string;
  /** Returns the command for the person, whose name and organizations the events contain. */
  readonly command: (person: SignInPerson) => SignInMethodsCommand;
  readonly createContext: (person: { readonly id: string; readonly username: string }) => EventContext;
  /** Statements that change secrets. They run in the transaction of the events. */
  readonly secrets?: readonly Sql[];
  /** Whether a suspended person counts as unknown. Default: false. */
  readonly refusesSuspended?: boolean;
};

export type SignInMethodsOperations = {
  /** Records a sign-in, a failure, or a name. No session ends. */
  RecordSignIn: Operation<MethodsChange, void>;
  /** Changes the methods. All sessions of the person end except one. */
  ChangeFactors: Operation<MethodsChange & { exceptSession: string | null }, void>;
};

export class ChangeSignInMethods<T extends keyof SignInMethodsOperations> extends AggregateCommand<
  SignInMethodsOperations,
  T
> {}

/** Returns the command that removes every sign-in method of a user, and ends all sessions. */
export const createMethodsReset = (
  user: string,
  createContext: MethodsChange['createContext'],
): ChangeSignInMethods<'ChangeFactors'> =>
  new ChangeSignInMethods('ChangeFactors', {
    user,
    exceptSession: null,
    command: (person) => ({ type: 'ResetSignInMethods', data: person }),
    createContext,
    secrets: deleteAllMethods(user),
  });
