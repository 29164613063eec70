import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { resourceBody, text, parseBody, renderDocument, renderList, slicePage, type Document } from '#api/json-api';
import { CurrentActor, RequireRecentSignIn, type Actor } from '#api/access';
import { MAX_XML } from '../saml/xml-elements.js';
import { PROVIDER_SETTINGS } from '../protocol/provider-settings.js';
import { ChangeIdentityProvider } from './identity-providers.handler.js';
import { PUBLIC_URL, renderIdentityProvider } from './identity-providers.document.js';
import { findProviderForActor, listProviders, type IdentityProviderRow } from './identity-providers.view.js';
import { ProviderDirectory, SETTINGS_PROVIDER_ID } from './provider-directory.service.js';

const MAX_SECRET = 1_000;

const clientSecret = text(MAX_SECRET)
  .refine((secret) => secret.trim() !== '', { error: "Client secret can't be blank. Send null for none" })
  .nullish();

const { body } = PROVIDER_SETTINGS;

/** Describe a provider with SAML. The server reads them once and stores what they say. */
const metadataMembers = {
  metadata: text(MAX_XML).nullish(),
  'metadata-url': text(1_000).nullish(),
};

export const createBody = resourceBody(
  'identity-providers',
  z.object({
    ...body,
    ...metadataMembers,
    name: body.name.unwrap(),
    'client-secret': clientSecret,
  }),
);

export const updateBody = resourceBody(
  'identity-providers',
  z.object({ ...body, ...metadataMembers, 'client-secret': clientSecret }).default({}),
);

/** The providers with which people can sign in. Site administrators manage them. */
@Controller('api/v2/admin/identity-providers')
export class IdentityProvidersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly directory: ProviderDirectory,
    @Inject(PUBLIC_URL) private readonly publicUrl: string,
  ) {}

  @Get()
  list(@Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    return renderList(
      request,
      async (page) => {
        const stored = await listProviders(this.database, actor);
        const { settingsProvider } = this.directory;
        const all = settingsProvider ? [settingsProvider, ...stored] : stored;
        return { rows: slicePage(all, page), total: all.length };
      },
      (row) => renderIdentityProvider(row, this.publicUrl),
    );
  }

  @Post()
  @RequireRecentSignIn()
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(createBody, body).data;
    const { name, 'client-secret': clientSecret, metadata, 'metadata-url': metadataUrl } = attributes;
    const settings = { ...PROVIDER_SETTINGS.read(attributes), name };
    const input = { settings, clientSecret, metadata, metadataUrl, actor };
    return this.render(await this.bus.execute(new ChangeIdentityProvider('CreateIdentityProvider', input)));
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const stored = await findProviderForActor(this.database, actor, id);
    const row = stored ?? (id === SETTINGS_PROVIDER_ID ? this.directory.settingsProvider : null);
    if (!row) throw notFound();
    return this.render(row);
  }

  @Patch(':id')
  @RequireRecentSignIn()
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(updateBody, body).data;
    const settings = PROVIDER_SETTINGS.read(attributes);
    const { 'client-secret': clientSecret, metadata, 'metadata-url': metadataUrl } = attributes;
    const input = { id, settings, clientSecret, metadata, metadataUrl, actor };
    return this.render(await this.bus.execute(new ChangeIdentityProvider('UpdateIdentityProvider', input)));
  }

  @Delete(':id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeIdentityProvider('DeleteIdentityProvider', { id, actor }));
  }

  private render(row: IdentityProviderRow): Document {
    return renderDocument(renderIdentityProvider(row, this.publicUrl));
  }
}
