import { describe, expect, it } from '@jest/globals';
import { renderMail } from './mail-messages.renderer.js';
import { createVerificationNotice, describeNotice, type Notice } from './notices.js';
import { renderPayload } from './payloads.js';
import { computeRetryPause, MAX_ATTEMPTS } from '#platform/outbound';

const notice: Notice = {
  configuration: 'nc-1',
  trigger: 'run:completed',
  message: 'Run Applied',
  organizationName: 'acme',
  workspace: { id: 'ws-1', name: 'app' },
  run: {
    id: 'run-1',
    url: 'https://cadastre.example.com/app/acme/workspaces/app/runs/run-1',
    message: 'a <!channel> & *b* [c](https://evil.example)',
    createdAt: '2026-01-31T12:30:15.123Z',
    createdBy: 'ada',
  },
  status: 'applied',
  destroyedFrom: null,
  assessment: null,
  at: '2026-01-31T12:31:15.123Z',
  by: 'ada',
};

describe('the message of a notification', () => {
  it.each([
    ['run:created', 'pending', 'Run Created'],
    ['run:needs_attention', 'planned', 'Run Needs Attention'],
    ['run:completed', 'planned_and_finished', 'Run Planned And Finished'],
    ['run:errored', 'canceled', 'Run Canceled'],
    ['workspace:locked', null, 'Workspace Locked'],
  ] as const)('of %s with the status %s is %j', (trigger, status, message) => {
    expect(describeNotice(trigger, status, null)).toBe(message);
  });

  it('of a reminder has the time at which resources are destroyed', () => {
    const destroyedFrom = '2026-02-01T12:00:00.000Z';
    const message = describeNotice('workspace:auto_destroy_reminder', null, destroyedFrom);
    expect(message).toBe(
      `Workspace Auto Destroy Reminder: all resources are destroyed at ${destroyedFrom} at the earliest`,
    );
    const reminder: Notice = {
      ...notice,
      trigger: 'workspace:auto_destroy_reminder',
      message,
      run: null,
      status: null,
      destroyedFrom,
    };
    expect(JSON.parse(renderPayload('generic', reminder)).notifications).toMatchObject([
      { message, auto_destroy_at: destroyedFrom },
    ]);
    expect(renderMail(reminder).text).toContain(`Destroyed from: ${destroyedFrom}`);
  });
});

describe('the payload about a health assessment', () => {
  it('has the new result and the one before', () => {
    const counts = {
      resourcesDrifted: 4,
      resourcesUndrifted: 55,
      checksPassed: 33,
      checksFailed: 1,
      checksErrored: 0,
      checksUnknown: 0,
    };
    const now = { id: 'asmtres-2', succeeded: true, drifted: true, counts, createdAt: '2026-02-01T12:00:00.000Z' };
    const before = { ...now, id: 'asmtres-1', drifted: false, counts: { ...counts, resourcesDrifted: 0 } };
    const urlOfResults = 'https://cadastre.example.com/api/v2/assessment-results';
    const drifted: Notice = {
      ...notice,
      trigger: 'assessment:drifted',
      message: 'Assessment Drifted',
      run: null,
      status: null,
      assessment: { now, before, urlOfResults },
    };
    expect(JSON.parse(renderPayload('generic', drifted))).toMatchObject({
      trigger_scope: 'assessment',
      trigger: 'assessment:drifted',
      details: {
        new_assessment_result: {
          id: 'asmtres-2',
          url: `${urlOfResults}/asmtres-2`,
          succeeded: true,
          drifted: true,
          all_checks_succeeded: false,
          resources_drifted: 4,
          resources_undrifted: 55,
          checks_passed: 33,
          checks_failed: 1,
          checks_errored: 0,
          checks_unknown: 0,
          created_at: '2026-02-01T12:00:00.000Z',
        },
        prior_assessment_result: { id: 'asmtres-1', drifted: false, resources_drifted: 0 },
        workspace_id: 'ws-1',
      },
    });
    const first = { ...drifted, assessment: { now, before: null, urlOfResults } };
    expect(JSON.parse(renderPayload('generic', first)).details.prior_assessment_result).toBeNull();
    expect(renderMail(drifted).text).toContain('Drifted resources: 4\nFailed checks: 1\n');
  });
});

/** Slack would make links, mentions and previews of the text. */
const NOTHING_PARSED = {
  mrkdwn: false,
  parse: 'none',
  link_names: false,
  unfurl_links: false,
  unfurl_media: false,
};

describe('the payload for Slack', () => {
  it('has a text, blocks and a link, and no text of a run can mention people or link elsewhere', () => {
    const payload = JSON.parse(renderPayload('slack', notice));
    expect(payload).toMatchObject({
      text: 'Run Applied',
      ...NOTHING_PARSED,
      blocks: [
        { type: 'section', text: { type: 'plain_text', text: 'Run Applied', emoji: false } },
        {
          type: 'section',
          fields: expect.arrayContaining([{ type: 'plain_text', text: 'Workspace\napp', emoji: false }]),
        },
        { type: 'actions', elements: [{ type: 'button', url: notice.run?.url }] },
      ],
    });
    expect(JSON.stringify(payload)).toContain('a &lt;!channel&gt; &amp; *b*');
    expect(JSON.stringify(payload)).not.toMatch(/<!channel>|mrkdwn"[^:]/);
  });

  it('of a test has neither fields nor a link', () => {
    expect(JSON.parse(renderPayload('slack', createVerificationNotice('nc-1', 'a<b')))).toEqual({
      text: 'Verification of a&lt;b',
      ...NOTHING_PARSED,
      blocks: [{ type: 'section', text: { type: 'plain_text', text: 'Verification of a&lt;b', emoji: false } }],
    });
  });

  it('is shorter than the limit of Slack, however long the message of the run is', () => {
    const run = { ...(notice.run as NonNullable<Notice['run']>), message: 'x'.repeat(100_000) };
    expect(renderPayload('slack', { ...notice, run }).length).toBeLessThan(3_000);
    expect(renderPayload('microsoft-teams', { ...notice, run }).length).toBeLessThan(28_000);
  });
});

describe('the payload for Microsoft Teams', () => {
  it('is an adaptive card with facts and a link, and texts of a run are plain', () => {
    const payload = JSON.parse(renderPayload('microsoft-teams', notice));
    const [{ contentType, content }] = payload.attachments;
    expect([payload.type, contentType]).toEqual(['message', 'application/vnd.microsoft.card.adaptive']);
    expect(content.actions).toEqual([{ type: 'Action.OpenUrl', title: 'Show run', url: notice.run?.url }]);
    const lines = content.body.map(({ type, inlines }: { type: string; inlines: { type: string; text: string }[] }) => {
      expect([type, new Set(inlines.map((inline) => inline.type))]).toEqual(['RichTextBlock', new Set(['TextRun'])]);
      return inlines.map(({ text }) => text).join('');
    });
    expect(lines).toEqual(
      expect.arrayContaining([
        'Run Applied',
        'Workspace: app',
        'Message: a <!channel> & *b* [c](https://evil.example)',
      ]),
    );
  });

  it('has no date in braces and no mark that changes the direction of a text', () => {
    const run = { ...(notice.run as NonNullable<Notice['run']>), message: '{{DATE(2017-02-14,SHORT)}} \u202Eevil' };
    for (const type of ['slack', 'microsoft-teams'] as const) {
      const payload = renderPayload(type, { ...notice, run });
      expect([type, payload.includes('\u202E')]).toEqual([type, false]);
    }
    expect(renderPayload('microsoft-teams', { ...notice, run })).not.toContain('{{');
  });
});

describe('the e-mail of a notification', () => {
  it('has a subject, facts and a link as text and as escaped HTML', () => {
    const { subject, text, html } = renderMail(notice);
    expect(subject).toBe('[acme/app] Run Applied');
    expect(text).toContain('Workspace: app\n');
    expect(text).toContain(`Show run: ${notice.run?.url}\n`);
    expect(html).toContain('a &lt;!channel&gt; &amp; *b*');
    expect(html).toContain(`<a href="${notice.run?.url}">Show run</a>`);
    expect(renderMail(createVerificationNotice('nc-1', 'a')).text).not.toContain('Show run');
  });

  it('keeps texts of callers on one line, and short', () => {
    const name = `${'😀'.repeat(5_000)}\r\nBcc: x`;
    const run = { ...(notice.run as NonNullable<Notice['run']>), message: 'a\r\n\u2028b\u202Ec\0' };
    const mail = renderMail({ ...notice, run, workspace: { id: 'ws-1', name } });
    expect(mail.subject).not.toMatch(/[\r\n]/);
    expect(mail.subject.length).toBeLessThanOrEqual(201);
    expect(mail.subject.isWellFormed()).toBe(true);
    expect(mail.text).toContain('Message: a b c\n');
    expect(mail.text.length + mail.html.length).toBeLessThan(8_000);
  });
});

describe('the pauses between attempts', () => {
  it('grow over about a day, and end after eight attempts', () => {
    const pauses = Array.from({ length: MAX_ATTEMPTS }, (_, n) => computeRetryPause(n + 1, 0.5));
    expect(pauses).toEqual([30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 50_400_000, null]);
  });

  it('differ by up to a fifth', () => {
    expect([computeRetryPause(1, 0), computeRetryPause(1, 0.999_999)]).toEqual([24_000, 36_000]);
  });
});
