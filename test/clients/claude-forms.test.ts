/** A form that another MCP server wants filled in, through the real Claude Code, at a desk or not at all. */
import { describe, expect, test } from 'vitest';
import { openDesk } from '../support/dialogs.ts';
import { HUMAN } from '../support/hive.ts';
import { startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { asked, run, shop } from './support/claude-dialogs.ts';
import { openWorld } from './support/world.ts';

describe('a form of an MCP server of Claude Code', () => {
  test('is filled in at a desk, and a page that it asks to visit is accepted there; without a desk it is cancelled', async () => {
    const world = await openWorld();
    const { hive } = world;
    const desk = await openDesk(hive);
    const told: string[] = [];
    const model: ReturnType<typeof startModel> = startModel(async (_request, step) => {
      told.push((await model).told().replaceAll('\\', ''));
      if (step > 3) return { text: 'done' };
      if (step === 3) await desk.close();
      return { calls: [{ name: `mcp__shop__${step === 2 ? 'pay' : 'order'}`, input: {} }] };
    });
    const run = { ...world, model: await model, allowed: 'mcp__shop', servers: { shop } };
    const done = runClaude(run, 'go');
    const prompts = await asked(hive, 2);
    expect(prompts.map(({ header, question }) => `${header}: ${question}`)).toEqual([
      'shop asks: Order now? · sure',
      'shop asks: Order now? · How many',
    ]);
    for (const [n, decision] of ['yes', '3'].entries())
      await hive.prompts.respond({ ask_id: prompts[n]?.ask_id ?? '', decision, actor: HUMAN });
    const [page] = await asked(hive);
    expect(page?.context).toContain('http://127.0.0.1:9/pay?order=1');
    await hive.prompts.respond({ ask_id: page?.ask_id ?? '', decision: 'Accept', actor: HUMAN });
    await done;
    expect(told[1]).toContain('{"action":"accept","content":{"sure":true,"count":3}}');
    expect(told[2]).toContain('"action":"accept"');
    expect(told[3]).toContain('"action":"cancel"');
  });

  test('comes up in the terminal half a minute later, and what the desk has left open is then answered there', async () => {
    const order = { name: 'mcp__shop__order', input: {} };
    const { hive, model, claude } = await run(order, { servers: { shop }, allowed: 'mcp__shop' });
    const [sure, count] = await asked(hive, 2);
    await hive.prompts.respond({ ask_id: sure?.ask_id ?? '', decision: 'yes', actor: HUMAN });
    const left = () => hive.prompts.get(count?.ask_id ?? '');
    await claude.until(/requests your input/, 45_000);
    expect(await left()).toMatchObject({ status: 'pending', terminal_since: expect.any(String) });
    await claude.answer(/requests your input/, 'Escape');
    await claude.until(/all done/);
    expect(model.told().replaceAll('\\', '')).toContain('"action":"cancel"');
    expect(await left()).toMatchObject({ cancel_reason: 'answered_elsewhere' });
  });

  test('is withdrawn when its server has given up on it, and nobody has answered it', async () => {
    const hurry = { name: 'mcp__shop__hurry', input: {} };
    const { hive, claude } = await run(hurry, { servers: { shop }, allowed: 'mcp__shop' });
    const [form] = await asked(hive);
    await claude.until(/all done/);
    expect(await hive.prompts.get(form?.ask_id ?? '')).toMatchObject({ cancel_reason: 'unknown' });
  });
});
