-- Whether Hive saw a person give an answer. Of older answers `via` says it: Emacs and the buttons of popups were a person's, a
-- rule is a person's, and the command line had a permission confirmed at a terminal.
ALTER TABLE prompts ADD COLUMN attested INTEGER NOT NULL DEFAULT 0;
UPDATE prompts SET attested = 1
WHERE status = 'responded' AND (via IN ('emacs', 'notification', 'rule') OR (via = 'cli' AND kind = 'permission'));
UPDATE prompts SET late_response =
  replace(replace(late_response, '"via":"emacs",', '"via":"emacs","attested":true,'),
    '"via":"notification",', '"via":"notification","attested":true,')
WHERE late_response IS NOT NULL;
ALTER TABLE responses ADD COLUMN attested INTEGER NOT NULL DEFAULT 0;
UPDATE responses SET attested = 1
WHERE via IN ('emacs', 'notification', 'rule')
  OR (via = 'cli' AND ask_id IN (SELECT ask_id FROM prompts WHERE kind = 'permission'));
