import { Body, Controller, Get, HttpCode, Post, Query, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeRequest, getSessionCredential, OptionalActor, Page, Public, type Actor } from '#api/access';
import { Clock } from '#platform/kernel';
import {
  PageRefusalFilter,
  parseForm,
  parseReturnPath,
  redirectToPage,
  renderMessagePage,
  sendPage,
  StaticFile,
  type HtmlPage,
} from '#api/pages';
import { Database } from '#platform/postgres';
import { getNextPath, HOME } from './flow/next-path.js';
import { SignInFlow, type SignInRequest, type SignInResult } from './flow/sign-in-flow.service.js';
import { SignInOptions } from './flow/sign-in-options.js';
import { findSignInLink } from './links/sign-in-links.operator.js';
import { PasskeyCeremonies } from './passkeys/passkey-ceremonies.service.js';
import { codeForm, linkForm, passkeyForm, passwordForm } from './pages/form-bodies.js';
import { renderLinkPage, renderSecondFactorPage, renderSignInPage, type SignInPage } from './pages/sign-in.renderer.js';

const SCRIPT = 'text/javascript; charset=utf-8';
const bundle = new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser'));
const webauthnScript = new StaticFile(bundle, SCRIPT);
const passkeysScript = new StaticFile(new URL('./assets/passkeys.js', import.meta.url), SCRIPT);

const ACCOUNT = '/account';
/** The same for unknown names and wrong passwords, so that nobody learns which accounts exist. */
const WRONG_PASSWORD = 'The user name or the password is wrong.';
const WRONG_CODE = 'This code is wrong, was used already, or is too old.';
const WRONG_PASSKEY = 'This passkey is not known here, or the page was open for too long. Please try again.';

const ENDED_LINK = renderMessagePage({
  title: 'This link has ended',
  messages: ['A sign-in link works once, and for 15 minutes. Ask the operator of this server for a new one.'],
  link: { path: '/sign-in', text: 'Use another sign-in method' },
});

const toSignInRequest = (request: FastifyRequest, actor: Actor | null): SignInRequest => ({
  request: describeRequest(request),
  cookies: request.headers.cookie,
  actor,
});

type FormPage = Omit<SignInPage, 'ceremony' | 'options' | 'hasPasswords' | 'leftOption'>;

/** The pages on which people sign in. */
@Controller('sign-in')
@UseFilters(PageRefusalFilter)
export class SignInController {
  constructor(
    private readonly flow: SignInFlow,
    private readonly ceremonies: PasskeyCeremonies,
    private readonly options: SignInOptions,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Page({ isPublic: true })
  async show(
    @Query() query: Readonly<Record<string, unknown>>,
    @OptionalActor() actor: Actor | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const returnTo = parseReturnPath(query['return_to']);
    const hasEnded = actor === null && getSessionCredential(request) !== undefined;
    const isConfirmation = actor !== null && query['confirm'] === '1';
    if (actor && !isConfirmation && query['switch'] !== '1') return redirectToPage(reply, returnTo ?? HOME);
    const login = isConfirmation ? actor.name : '';
    const left = typeof query['left'] === 'string' ? query['left'] : null;
    return sendPage(reply, 200, await this.renderForm({ returnTo, isConfirmation, hasEnded, login }, left));
  }

  @Post()
  @HttpCode(303)
  @Page({ isPublic: true })
  async signInWithPassword(
    @Body() body: unknown,
    @OptionalActor() actor: Actor | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { login, password, return_to: path } = parseForm(passwordForm, body);
    const returnTo = parseReturnPath(path);
    const result = await this.flow.signInWithPassword(
      { login: login.trim(), password },
      toSignInRequest(request, actor),
    );
    const again = () => this.renderForm({ returnTo, login, error: WRONG_PASSWORD });
    return this.finish(reply, result, { returnTo, again });
  }

  @Post('passkey')
  @HttpCode(303)
  @Page({ isPublic: true })
  async signInWithPasskey(
    @Body() body: unknown,
    @OptionalActor() actor: Actor | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { return_to: path, ...answer } = parseForm(passkeyForm, body);
    const returnTo = parseReturnPath(path);
    const result = await this.flow.signInWithPasskey(answer, toSignInRequest(request, actor));
    return this.finish(reply, result, { returnTo, again: () => this.renderForm({ returnTo, error: WRONG_PASSKEY }) });
  }

  @Get('second-factor')
  @Page({ isPublic: true })
  async showSecondFactor(
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if (!(await this.flow.findPending(toSignInRequest(request, null)))) return redirectToPage(reply, '/sign-in');
    return sendPage(reply, 200, renderSecondFactorPage({ returnTo: parseReturnPath(query['return_to']) }));
  }

  @Post('second-factor')
  @HttpCode(303)
  @Page({ isPublic: true })
  async completeWithCode(
    @Body() body: unknown,
    @OptionalActor() actor: Actor | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { code, return_to: path } = parseForm(codeForm, body);
    const returnTo = parseReturnPath(path);
    const signIn = toSignInRequest(request, actor);
    const pending = await this.flow.findPending(signIn);
    if (!pending) return redirectToPage(reply, '/sign-in');
    const result = await this.flow.completeWithCode(pending, code, signIn);
    const again = () => Promise.resolve(renderSecondFactorPage({ returnTo, error: WRONG_CODE }));
    return this.finish(reply, result, { returnTo, again });
  }

  @Get('link')
  @Page({ isPublic: true })
  async showLink(
    @Query() { secret, return_to: path }: Readonly<Record<string, unknown>>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const link = typeof secret === 'string' && (await findSignInLink(this.database, secret, this.clock.now()));
    if (!link) return sendPage(reply, 404, ENDED_LINK);
    const { resetsMethods, revokesTokens } = link;
    // A person without any method adds new ones first.
    const returnTo = parseReturnPath(path) ?? (resetsMethods ? ACCOUNT : HOME);
    return sendPage(reply, 200, renderLinkPage({ secret: secret as string, resetsMethods, revokesTokens, returnTo }));
  }

  @Post('link')
  @HttpCode(303)
  @Page({ isPublic: true })
  async signInWithLink(
    @Body() body: unknown,
    @OptionalActor() actor: Actor | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { secret, return_to: path } = parseForm(linkForm, body);
    const result = await this.flow.signInWithLink(secret, toSignInRequest(request, actor));
    return this.finish(reply, result, { returnTo: parseReturnPath(path), again: () => Promise.resolve(ENDED_LINK) });
  }

  @Get('webauthn.js')
  @Public()
  showWebauthnScript(@Res({ passthrough: true }) reply: FastifyReply): string {
    return webauthnScript.send(reply);
  }

  @Get('passkeys.js')
  @Public()
  showPasskeysScript(@Res({ passthrough: true }) reply: FastifyReply): string {
    return passkeysScript.send(reply);
  }

  /** `left`: id of the identity provider of the session that has ended. */
  private async renderForm(page: FormPage, left: string | null = null): Promise<HtmlPage> {
    const [ceremony, options] = [await this.ceremonies.createSignIn(), await this.options.listOptions()];
    const leftOption = options.find(({ id }) => id === left) ?? null;
    return renderSignInPage({ ...page, ceremony, options, leftOption, hasPasswords: true });
  }

  /** Continues with the next page, or shows the form again. */
  private async finish(
    reply: FastifyReply,
    result: SignInResult,
    { returnTo, again }: { readonly returnTo: string | null; readonly again: () => Promise<HtmlPage> },
  ) {
    if (result.outcome === 'failed') return sendPage(reply, 422, await again());
    void reply.header('set-cookie', [...result.cookies]);
    return redirectToPage(reply, getNextPath(result.outcome, returnTo));
  }
}
