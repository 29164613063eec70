import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import { Clock, Ids, OrganizationCreation } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { defineAggregate, toProjection, type ModuleDefinition, EventStore } from '#storage/event-store';
import { TwoFactorRule } from '#api/access';
import { UserSignInMethods } from '#identity/scim';
import { userIdentities } from './identities/linked-identities.view.js';
import { signInSecrets } from './methods/secrets.view.js';
import { signInMethods } from './methods/sign-in-methods.js';
import { signInMethodsEvents } from './methods/sign-in-methods.events.js';
import { AccountChangesController } from './notices/account-changes.controller.js';
import { accountNoticesFollower } from './notices/account-notices.follower.js';
import { refusedSignInEvents } from './refusals/refused-sign-ins.js';
import { TOTP_PURPOSE } from './totp/totp.queries.js';
import { AdminUsersController } from './administration/admin-users.controller.js';
import { AccountController } from './account/account.controller.js';
import { AccountPages } from './account/account-pages.service.js';
import { AccountService } from './account/account.service.js';
import { SignInMethodsController } from './account/sign-in-methods.controller.js';
import { SignInFlow, type SignInServices } from './flow/sign-in-flow.service.js';
import { SignInOptions } from './flow/sign-in-options.js';
import { SignInTokens } from './sign-in-tokens.service.js';
import { ResettableMethods } from './methods/resettable-methods.service.js';
import { SignInMethodsHandler } from './methods/sign-in-methods.handler.js';
import { PasskeyCeremonies } from './passkeys/passkey-ceremonies.service.js';
import { PasswordHasher } from './passwords/password-hasher.service.js';
import { RefusedSignInRecorder } from './refusals/refused-sign-ins.recorder.js';
import { SignInController } from './sign-in.controller.js';
import { SignOutController } from './sign-out.controller.js';

const withoutAccounts = {
  without: 'people keep their sign-in methods at the site where they have an account',
} as const;

export const signInDefinition: ModuleDefinition = {
  name: 'sign-in',
  kinds: { ...signInMethodsEvents, ...refusedSignInEvents },
  aggregates: [defineAggregate('sim', signInMethods)],
  projections: [toProjection(signInSecrets), toProjection(userIdentities)],
  followers: [accountNoticesFollower],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'sign_in.passwords', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.totp_secrets', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.recovery_codes', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.passkeys', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.links', backup: 'empty', because: 'links end after 15 minutes' },
    {
      table: 'sign_in.answered_challenges',
      backup: 'rows',
      organizationExport: withoutAccounts,
    },
    { table: 'sign_in.account_notices', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.account_mails', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.attempts', backup: 'empty', because: 'the count of attempts starts again' },
    { table: 'sign_in.refusals', backup: 'empty', because: 'the count of refused sign-ins starts again' },
  ],
  encryptedColumns: [{ table: 'sign_in.totp_secrets', id: 'user_id', column: 'encrypted', purpose: TOTP_PURPOSE }],
};

export type SignInModuleOptions = {
  readonly encryptionKeys: EncryptionKeys;
  readonly publicUrl: string;
  readonly sessionHours: number;
  readonly organizationCreation: OrganizationCreation;
};

const DEPENDENCIES = 'cadastre:sign-in-dependencies';

const SERVICES = [
  EventStore,
  Clock,
  Ids,
  SignInTokens,
  PasswordHasher,
  PasskeyCeremonies,
  SignInOptions,
  RefusedSignInRecorder,
  TwoFactorRule,
];

const createRecorderProvider = (keys: EncryptionKeys): Provider => ({
  provide: RefusedSignInRecorder,
  useFactory: (store: EventStore, clock: Clock, ids: Ids) => new RefusedSignInRecorder({ store, clock, ids, keys }),
  inject: [EventStore, Clock, Ids],
});

@Module({
  imports: [CqrsModule],
  controllers: [
    SignInController,
    SignOutController,
    AccountChangesController,
    AccountController,
    AdminUsersController,
    SignInMethodsController,
  ],
  providers: [
    SignInMethodsHandler,
    PasswordHasher,
    AccountPages,
    { provide: UserSignInMethods, useClass: ResettableMethods },
    {
      provide: SignInFlow,
      useFactory: (dependencies: SignInServices, bus: CommandBus) => new SignInFlow(dependencies, bus),
      inject: [DEPENDENCIES, CommandBus],
    },
    {
      provide: AccountService,
      useFactory: (dependencies: SignInServices, bus: CommandBus) => new AccountService(dependencies, bus),
      inject: [DEPENDENCIES, CommandBus],
    },
  ],
  // Identity providers sign people in, link their accounts, and delete users.
  exports: [AccountService, SignInFlow, SignInTokens, UserSignInMethods],
})
export class SignInModule {
  static with({ encryptionKeys, publicUrl, sessionHours, organizationCreation }: SignInModuleOptions): DynamicModule {
    const totpEnvelope = new Envelope(encryptionKeys, TOTP_PURPOSE);
    return {
      module: SignInModule,
      global: true,
      providers: [
        { provide: OrganizationCreation, useValue: organizationCreation },
        createRecorderProvider(encryptionKeys),
        {
          provide: SignInTokens,
          useFactory: (clock: Clock) => new SignInTokens(encryptionKeys, clock),
          inject: [Clock],
        },
        {
          provide: PasskeyCeremonies,
          useFactory: (database: Database, tokens: SignInTokens) => new PasskeyCeremonies(database, tokens, publicUrl),
          inject: [Database, SignInTokens],
        },
        {
          provide: DEPENDENCIES,
          useFactory: (
            store: EventStore,
            clock: Clock,
            ids: Ids,
            tokens: SignInTokens,
            hasher: PasswordHasher,
            ceremonies: PasskeyCeremonies,
            options: SignInOptions,
            refusals: RefusedSignInRecorder,
            twoFactor: TwoFactorRule,
          ): SignInServices => {
            const services = { store, clock, ids, tokens, hasher, ceremonies, options, refusals, twoFactor };
            return { ...services, sessionHours, totpEnvelope };
          },
          inject: SERVICES,
        },
      ],
    };
  }
}
