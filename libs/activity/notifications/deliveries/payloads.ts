import type { UrlDestinationType } from '../configurations/destinations.js';
import type { Notice } from './notices.js';

type NoticedAssessment = NonNullable<Notice['assessment']>;

const countFailedChecks = ({ counts }: Pick<NoticedAssessment['now'], 'counts'>): number =>
  counts.checksFailed + counts.checksErrored;

const NO_RUN = { id: null, url: null, message: null, createdAt: null, createdBy: null };
const NO_WORKSPACE = { id: null, name: null };

/** The payload of the vendor's generic webhooks about health assessments. */
const renderAssessment = (notice: Notice, { now, before, urlOfResults }: NoticedAssessment): object => {
  const renderResult = ({ counts, ...result }: NoticedAssessment['now']): object => ({
    id: result.id,
    url: `${urlOfResults}/${result.id}`,
    succeeded: result.succeeded,
    drifted: result.drifted,
    all_checks_succeeded: result.succeeded && countFailedChecks({ counts }) === 0,
    resources_drifted: counts.resourcesDrifted,
    resources_undrifted: counts.resourcesUndrifted,
    checks_passed: counts.checksPassed,
    checks_failed: counts.checksFailed,
    checks_errored: counts.checksErrored,
    checks_unknown: counts.checksUnknown,
    created_at: result.createdAt,
  });
  return {
    trigger_scope: 'assessment',
    trigger: notice.trigger,
    message: notice.message,
    details: {
      new_assessment_result: renderResult(now),
      prior_assessment_result: before && renderResult(before),
      workspace_id: notice.workspace?.id ?? null,
      workspace_name: notice.workspace?.name ?? null,
      organization_name: notice.organizationName,
    },
  };
};

/** The payload of the vendor's generic webhooks, version 1. Members without a value are null. */
const renderGeneric = (notice: Notice): object => {
  const run = notice.run ?? NO_RUN;
  const workspace = notice.workspace ?? NO_WORKSPACE;
  return {
    payload_version: 1,
    notification_configuration_id: notice.configuration,
    run_url: run.url,
    run_id: run.id,
    run_message: run.message,
    run_created_at: run.createdAt,
    run_created_by: run.createdBy,
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    organization_name: notice.organizationName,
    notifications: [
      {
        message: notice.message,
        trigger: notice.trigger,
        run_status: notice.status,
        run_updated_at: notice.at,
        run_updated_by: notice.by,
        ...(notice.destroyedFrom === null ? {} : { auto_destroy_at: notice.destroyedFrom }),
      },
    ],
    ...(notice.assessment ? renderAssessment(notice, notice.assessment) : {}),
  };
};

type NoticeFact = { readonly title: string; readonly value: string };

/** Returns what a message shows about a notification. Long values are cut. */
export const listFacts = ({
  organizationName,
  workspace,
  run,
  by,
  at,
  destroyedFrom,
  assessment,
}: Notice): readonly NoticeFact[] =>
  [
    { title: 'Organization', value: organizationName },
    { title: 'Workspace', value: workspace?.name },
    { title: 'Run', value: run?.id },
    { title: 'Message', value: run?.message },
    { title: 'Destroyed from', value: destroyedFrom },
    { title: 'Drifted resources', value: assessment && String(assessment.now.counts.resourcesDrifted) },
    { title: 'Failed checks', value: assessment && String(countFailedChecks(assessment.now)) },
    { title: 'By', value: by },
    { title: 'Time', value: at },
  ].flatMap(({ title, value }) => (value ? [{ title, value: shorten(value) }] : []));

/** Slack refuses texts above 3,000 characters, and Teams messages above 28 KB. */
const MAX_TEXT_CHARACTERS = 1_000;

/** Removes control characters and invisible marks, except line breaks. */
const removeInvisible = (text: string): string => text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}]/gu, '');

const shorten = (text: string): string =>
  text.length <= MAX_TEXT_CHARACTERS ? text : `${text.slice(0, MAX_TEXT_CHARACTERS)}…`;

/**
 * Escapes the three characters with which links, mentions and entities begin in every text of Slack. Removes control
 * characters and marks of direction, which could change how the text looks.
 */
const escapeSlack = (text: string): string =>
  removeInvisible(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Slack shows a plain text without formatting, links and mentions. */
const toPlainText = (text: string) => ({ type: 'plain_text', text: escapeSlack(text), emoji: false });

/**
 * Renders the format of Slack's incoming webhooks: `text` for notifications of the client, blocks for the message. The other
 * members switch off Markdown, links, mentions and previews in `text`.
 */
const renderSlack = (notice: Notice): object => {
  const title = shorten(notice.message);
  const fields = listFacts(notice).map(({ title: name, value }) => toPlainText(`${name}\n${value}`));
  const link = notice.run && {
    type: 'actions',
    elements: [{ type: 'button', text: { type: 'plain_text', text: 'Show run' }, url: notice.run.url }],
  };
  return {
    text: escapeSlack(title),
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: toPlainText(title) },
      ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
      ...(link ? [link] : []),
    ],
  };
};

/**
 * Adaptive cards show a text run without Markdown, links and mentions. The thin space prevents the expansion of dates in
 * double braces.
 */
const toTextRuns = (...runs: readonly { readonly text: string; readonly isBold: boolean }[]) => ({
  type: 'RichTextBlock',
  inlines: runs.map(({ text, isBold }) => ({
    type: 'TextRun',
    text: removeInvisible(text).replaceAll('{{', '{\u2009{'),
    ...(isBold ? { weight: 'Bolder' } : {}),
  })),
});

/** An adaptive card, which webhooks of Teams accept. */
const renderTeams = (notice: Notice): object => {
  const facts = listFacts(notice).map(({ title, value }) =>
    toTextRuns({ text: `${title}: `, isBold: true }, { text: value, isBold: false }),
  );
  const actions = notice.run ? [{ type: 'Action.OpenUrl', title: 'Show run', url: notice.run.url }] : [];
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [toTextRuns({ text: shorten(notice.message), isBold: true }), ...facts],
          actions,
        },
      },
    ],
  };
};

const RENDERERS: Readonly<Record<UrlDestinationType, (notice: Notice) => object>> = {
  generic: renderGeneric,
  slack: renderSlack,
  'microsoft-teams': renderTeams,
};

/** Returns the body of a request, as JSON. */
export const renderPayload = (type: UrlDestinationType, notice: Notice): string =>
  JSON.stringify(RENDERERS[type](notice));
