/** A form that another MCP server wants filled in, through the real Claude Code, at a desk or not at all. */
import { describe, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import { openDesk } from '../support/dialogs.ts';
import { HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { asked, run, shop } from './support/claude-dialogs.ts';
import { openWorld } from './support/world.ts';

describe('a form of an MCP server of Claude Code', () => {
  test.for([true, false])('is filled in at a desk: %s', async (desk) => {
    const world = await openWorld();
    const { hive } = world;
    if (desk) await openDesk(hive);
    const model = await startModel((_request, step) =>
      step === 1 ? { calls: [{ name: 'mcp__shop__order', input: {} }] } : { text: 'done' },
    );
    const done = runClaude({ ...world, model, allowed: 'mcp__shop', servers: { shop } }, 'go');
    if (desk) {
      let prompts: Prompt[] = [];
      await eventually(async () => {
        prompts = (await hive.prompts.list({ status: 'pending', limit: 5 })).items;
        return prompts.length === 2;
      }, 20_000);
      expect(prompts.map(({ header, question }) => `${header}: ${question}`)).toEqual([
        'shop asks: Order now? · sure',
        'shop asks: Order now? · How many',
      ]);
      for (const [n, decision] of ['yes', '3'].entries())
        await hive.prompts.respond({ ask_id: prompts[n]?.ask_id ?? '', decision, actor: HUMAN });
    }
    await done;
    const told = model.told().replaceAll('\\', '');
    if (desk) expect(told).toContain('{"action":"accept","content":{"sure":true,"count":3}}');
    else expect(told).toContain('"action":"cancel"');
  });

  test('that asks to visit a page is accepted at a desk', async () => {
    const world = await openWorld();
    const { hive } = world;
    await openDesk(hive);
    const model = await startModel((_request, step) =>
      step === 1 ? { calls: [{ name: 'mcp__shop__pay', input: {} }] } : { text: 'done' },
    );
    const done = runClaude({ ...world, model, allowed: 'mcp__shop', servers: { shop } }, 'go');
    const asked = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
    await eventually(async () => (await asked()) !== undefined, 20_000);
    const prompt = await asked();
    expect(prompt?.context).toContain('http://127.0.0.1:9/pay?order=1');
    await hive.prompts.respond({ ask_id: prompt?.ask_id ?? '', decision: 'Accept', actor: HUMAN });
    await done;
    expect(model.told().replaceAll('\\', '')).toContain('"action":"accept"');
  });

  test('comes up in the terminal half a minute later, and is then answered there', async () => {
    const order = { name: 'mcp__shop__order', input: {} };
    const { hive, model, claude } = await run(order, { servers: { shop }, allowed: 'mcp__shop' });
    const prompts = await asked(hive, 2);
    await claude.until(/requests your input/, 45_000);
    for (const { ask_id } of prompts)
      expect(await hive.prompts.get(ask_id)).toMatchObject({
        status: 'pending',
        terminal_since: expect.any(String),
      });
    await claude.answer(/requests your input/, 'Escape');
    await claude.until(/all done/);
    expect(model.told().replaceAll('\\', '')).toContain('"action":"cancel"');
    for (const { ask_id } of prompts)
      expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'answered_elsewhere' });
  });
});
