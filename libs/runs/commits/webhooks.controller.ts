import type { Readable } from 'node:stream';
import { Body, Controller, Headers, HttpCode, Param, Post } from '@nestjs/common';
import { badRequest, Clock, forbidden, notFound, Refusal } from '#platform/kernel';
import { ConfigureRoute, Public } from '#api/access';
import { Database } from '#platform/postgres';
import { Vault } from '#storage/vault';
import { DELIVERIES, isConnectedProvider, type ServiceProvider } from '#vcs/git-hosts';
import { findWebhookForDelivery, storeDelivery } from './webhooks.queries.js';

/** GitHub lists up to 2,048 commits in a delivery. A larger delivery is refused, and the next poll reads the repository. */
const MAX_DELIVERY_BYTES = 4 * 1_048_576;

const readDelivery = async (content: Readable): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of content as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_DELIVERY_BYTES)
      throw new Refusal('too-large', [{ detail: 'The delivery is too large. At most 4 MiB are accepted.' }]);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

/** Deliveries of Git hosts. The signature replaces the token. */
@Controller('api/v2')
export class WebhooksController {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
    private readonly clock: Clock,
  ) {}

  @Post('webhooks/vcs/:id')
  @Public()
  @ConfigureRoute({ rawBody: 'json' })
  @HttpCode(204)
  async receive(
    @Param('id') id: string,
    @Headers() headers: Readonly<Record<string, string | string[] | undefined>>,
    @Body() content: Readable | undefined,
  ): Promise<void> {
    const webhook = await findWebhookForDelivery(this.database, id);
    const provider = webhook?.serviceProvider as ServiceProvider | undefined;
    if (!webhook?.secret || !provider || !isConnectedProvider(provider)) throw notFound();
    const body = content ? await readDelivery(content) : Buffer.alloc(0);
    const format = DELIVERIES[provider];
    if (!format.isSigned(headers, body, this.vault.decrypt(id, webhook.secret)))
      throw forbidden('The delivery is not signed with the secret of the webhook');
    const delivery = format.getId(headers);
    const parsed = format.parse(headers, body);
    if (delivery === null || parsed === null) throw badRequest('The delivery is none of this kind of Git host');
    const row = { webhook: id, delivery, event: parsed.event };
    await storeDelivery(this.database, row, this.clock.now().toISOString());
  }
}
