import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { importPKCS8, SignJWT, type CryptoKey } from 'jose';
import { Clock, Ids } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { Vault } from '#storage/vault';
import { ALGORITHM, type OidcPublicKey } from '../keys/oidc-keys.js';
import { ChangeOidcKeys } from '../keys/oidc-keys.handler.js';
import { findSigningKey, listPublicKeys, toSecretId } from '../keys/oidc-keys.view.js';
import { OIDC_ISSUER } from './oidc-issuer.token.js';

export type RunIdentityClaims = { readonly sub: string } & Readonly<Record<string, string>>;

/** Signs the tokens with which runs authenticate at clouds, and publishes the keys that verify them. */
@Injectable()
export class IdentityTokens {
  /** The key that signed last. */
  private imported: { readonly kid: string; readonly privateKey: CryptoKey } | null = null;

  constructor(
    private readonly database: Database,
    private readonly bus: CommandBus,
    private readonly vault: Vault,
    private readonly clock: Clock,
    private readonly ids: Ids,
    @Inject(OIDC_ISSUER) readonly issuer: string,
  ) {}

  /** Returns a JSON Web Token with these claims for one audience. */
  async sign(claims: RunIdentityClaims, audience: string, lifetimeSeconds: number): Promise<string> {
    const { kid, privateKey } = await this.loadSigningKey();
    const now = Math.floor(this.clock.now().getTime() / 1000);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(this.issuer)
      .setAudience(audience)
      .setJti(this.ids.uuid())
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + lifetimeSeconds)
      .sign(privateKey);
  }

  /** Returns the published keys, newest first. Creates the first one, because others may configure the keys before the first run. */
  async listKeys(): Promise<readonly OidcPublicKey[]> {
    const keys = await listPublicKeys(this.database);
    if (keys.length > 0) return keys;
    await this.bus.execute(new ChangeOidcKeys('EnsureKey', {}));
    return listPublicKeys(this.database);
  }

  private async loadSigningKey(): Promise<{ readonly kid: string; readonly privateKey: CryptoKey }> {
    const key = await findSigningKey(this.database);
    if (!key) {
      await this.bus.execute(new ChangeOidcKeys('EnsureKey', {}));
      return this.loadSigningKey();
    }
    const { kid, encrypted } = key;
    if (this.imported?.kid === kid) return this.imported;
    if (encrypted === null) throw new Error(`the private key of the signing key ${kid} is missing`);
    this.imported = { kid, privateKey: await importPKCS8(this.vault.decrypt(toSecretId(kid), encrypted), ALGORITHM) };
    return this.imported;
  }
}
