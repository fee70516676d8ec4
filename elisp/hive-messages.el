;;; hive-messages.el --- Every sentence that Hive shows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The words of Hive in one table: messages of the echo area, errors, prompts
;; of the minibuffer, header lines, labels of the menu, titles of columns, and
;; the notes in buffers.  They can be read, and corrected, as a whole.
;;
;; The rest of Hive uses a sentence by its name:
;;
;;     (hive-say 'draft-discarded)             show it in the echo area now
;;     (hive-announce 'answered agent words)   show it when the human is free
;;     (hive-fail 'no-message-here)            signal a `user-error'
;;     (hive-words 'answer-to agent)           return it, for a prompt or a buffer
;;
;; The compiler warns about a name that the table lacks, and about a wrong
;; number of arguments.
;;
;; Each sentence is complete.  Only where the sidecar supplies the whole
;; sentence does "Hive: " say who speaks.

;;; Code:

(require 'cl-lib)
(require 'macroexp)

;;;; The table

(eval-and-compile
  (defconst hive-messages
    '(;; The connection
      (off . "Hive is off; turn it on with M-x hive-mode")
      (not-connected . "Hive is not connected yet; M-x hive-doctor shows why")
      (not-connected-because . "Hive is not connected.  %s  (M-x hive-doctor has more)")
      (from-sidecar . "Hive: %s")
      (retrying . "%s  Retrying in %s s")
      (sidecar-stopped . "the sidecar stopped")
      (sidecar-stopped-with . "the sidecar exited with status %s")
      (request-not-connected . "not connected (M-x hive-doctor shows why)")
      (request-timeout . "the sidecar did not reply")
      (program-missing . "the program `%s' was not found; %s")
      (program-missing-hive
       . "install it with M-x hive-install-sidecar; if it is already installed, add its directory to `exec-path' or set `hive-sidecar-command' to (\"/path/to/hive\" \"sidecar\")")
      (program-missing-option . "correct `%s'")
      (protocol-missing
       . "The program that was started is not a Hive sidecar; check `hive-sidecar-command'")
      (sidecar-too-old
       . "The Hive sidecar is older than hive-mode; update it with M-x hive-install-sidecar")
      (sidecar-too-new
       . "Your hive-mode is older than the Hive sidecar; update the package hive-mode, then restart Emacs")
      (node-missing
       . "The program `hive' did not find Node.js; install Node.js %s or newer, or set `hive-node-program', then run M-x hive-restart")
      (node-unsuitable . "%s  Or set `hive-node-program' and run M-x hive-restart")

      ;; The seat
      (seat-name . "Name of the seat (user@machine): ")
      (seat-key . "Its public key: ")
      (seat-confirm . "Let the seat %s (key %s) grant permissions to agents? ")
      (doctor-server . "Emacs server")
      (doctor-server-runs . "running as \"%s\"")
      (doctor-server-none . "not running")
      (doctor-server-advice
       . "Any program of yours, and any agent that is not sandboxed, can run Lisp in this Emacs with emacsclient and grant permissions in your name.  Stop the server with M-x server-force-delete")

      ;; Installing, the doctor, the manual
      (npm-missing . "The program `npm' was not found; install Node.js 20 or newer with npm first")
      (install-which . "Install from (release file or directory): ")
      (installing . "Installing Hive from %s")
      (install-failed . "Hive was not installed; the buffer %s shows why")
      (install-incomplete
       . "The installation finished, but there is no program `hive' in %s; the buffer *hive install* has details")
      (installed . "Hive is installed")
      (doctor-title . "Hive doctor")
      (doctor-again . "Press g to check again.")
      (doctor-emacs-old . "Hive needs Emacs 28.1 or newer")
      (doctor-then-restart . "Afterwards run M-x hive-restart")
      (doctor-turn-on . "turn it on with M-x hive-mode")
      (doctor-see-log . "the buffer *hive log* has details; M-x hive-restart tries again")
      (doctor-store-unknown . "not known yet")
      (doctor-store-later . "Shown once the sidecar is connected")
      (doctor-outbox . "%d unsent, %d rejected%s, in %s")
      (doctor-outbox-unverified . ", %d not signed with your key")
      (outbox-unverified
       . "The outbox has %s not signed with your key; M-x hive-outbox-review shows them")
      (outbox-none-unverified . "Everything in the outbox is signed with your key")
      (outbox-about
       . "This entry in %s is not signed with your key.  Send it only if it is yours.")
      (outbox-review . "[s] send it as your own  [d] delete it  [l] later ")
      (outbox-review-unknown
       . "This is neither an answer nor a message, so it cannot be sent.  [d] delete it  [l] later ")
      (doctor-review . "M-x hive-outbox-review shows what is not signed with your key")
      (doctor-forget-rejected . "M-x hive-outbox-forget-rejected deletes the rejected entries")
      (doctor-other-store . "%s to another store; set `hive-store' to it")
      (doctor-node-missing . "not found")
      (doctor-node-old . "Hive needs Node.js %s or newer; install it, or set `hive-node-program'")
      (manual-missing . "There is no manual yet; run `npm run build' in %s")
      (doctor-emacs . "Emacs")
      (doctor-program . "Program")
      (doctor-sidecar . "Sidecar")
      (doctor-sidecar-checks . "The sidecar's checks")
      (doctor-store . "Store")
      (doctor-outbox-name . "Outbox")
      (doctor-rejected . "Rejected")
      (doctor-node . "Node.js")
      (doctor-connected . "%s %s, protocol %s")

      ;; The menu
      (menu-title . "Hive")
      (menu-title-off . "Hive (off; O turns it on)")
      (menu-answer . "Answer")
      (menu-respond . "answer a question")
      (menu-next . "answer one by one")
      (menu-list . "list of questions")
      (menu-amend . "correct an answer")
      (menu-talk . "Talk")
      (menu-shared . "shared buffer")
      (menu-mentions . "mentions of you")
      (menu-sessions . "sessions")
      (menu-look . "View")
      (menu-outreach . "cards, pings, reports")
      (menu-notices . "notices")
      (menu-history . "history")
      (menu-stop . "Stop")
      (menu-interrupt . "interrupt one")
      (menu-interrupt-all . "interrupt all")
      (menu-notifications . "Notifications")
      (menu-do-not-disturb . "do not disturb")
      (menu-preferences . "preferences")
      (menu-hive . "Hive")
      (menu-doctor . "doctor")
      (menu-manual . "manual")
      (menu-install . "install the sidecar")
      (menu-on-off . "turn on or off")

      ;; Titles of columns
      (column-agent . "Agent")
      (column-source . "Source")
      (column-project . "Project")
      (column-kind . "Kind")
      (column-age . "Age")
      (column-expires . "Expires")
      (column-ended . "Ended")
      (column-question . "Question")
      (column-outcome . "Outcome and question")
      (column-when . "When")
      (column-what . "What")
      (column-text . "Text")
      (column-handle . "Handle")
      (column-client . "Client")
      (column-state . "State")
      (column-branch . "Branch")
      (column-questions . "Questions")
      (column-mentions . "Mentions")
      (column-seen . "Last seen")
      (column-doing . "Activity")
      (ago . "%s ago")

      ;; What arrives
      (asks . "%s asks: %s%s%s")
      (mentions-you . "%s mentions you: %s%s%s")
      (and-more . " (and %d more)")
      (ping . "%s%s: %s")
      (card . "%s%s sends a card: %s%s")
      (outreach-many . "%s%d messages from agents; the latest: %s  %s")
      (while-away . "While you were away: ")

      ;; The mode line
      (mode-line-no-sidecar . "Hive is not connected; M-x hive-doctor shows why")
      (mode-line-pending . "Questions are pending\nmouse-1: answer\nmouse-3: list")
      (mode-line-mentions
       . "Agents have mentioned you; M-x hive-check-mentions lists the mentions")
      (mode-line-interrupt . "mouse-2: interrupt an agent")
      (mode-line-unsent . " %d unsent")

      ;; Quiet times and preferences
      (quiet-begins . "Do not disturb is on%s; only a few critical questions are announced")
      (quiet-for . " for %s")
      (quiet-nothing-new . "Do not disturb is off; nothing new")
      (quiet-arrived . "Do not disturb is off; %s arrived%s")
      (quiet-hours-arrived . "Quiet hours are over; %s arrived%s")
      (quiet-silent . "; %d of them are critical and were not announced")
      (quiet-help . "Do not disturb is on; M-x hive-do-not-disturb turns it off")
      (quiet-until . "Quiet hours until %s")
      (muted . "Muted %s")
      (unmuted . "Unmuted %s")
      (which-mute . "Mute or unmute project: ")
      (which-mute-agent . "Mute or unmute agent: ")
      (preference-refused . "Hive could not save the preference: %s")
      (no-notices . "There are no notices.")
      (notice-sent . "What was sent:")

      ;; Choosing a question
      (none-pending . "No questions are pending%s")
      (others-pending . " for you now (%s; M-x hive-list shows them)")
      (count-snoozed . "%d snoozed")
      (count-for-others . "%d for others")
      (which-question . "Answer (%d pending, default %s): ")
      (for-whom . "[for %s%s] ")
      (for-everybody . ", now for everybody")
      (claimed . "[%s is answering] ")

      ;; Reading an answer
      (agent-asks . "%s asks: ")
      (answer-to . "To %s: ")
      (late-answer-to . "Late answer to %s: ")
      (offer-own-words . " / your own words")
      (offer-chosen . "; chosen: %s; empty RET sends")
      (offer-several . "; RET adds one, empty RET sends")
      (offer-done . "[done: %s]")
      (offer-nothing . "nothing chosen")
      (which-comment . "Comment: ")
      (not-an-option-answer . "\"%s\" is not an option.  Send it as your answer? ")
      (not-an-option-comment . "\"%s\" is not an option.  Send it as a comment? ")
      (which-meant . "Which did you mean by \"%s\"?  %s  [w] send it as typed  [e] edit it ")
      (permission-more . "  … and %s; ? shows everything\n")
      (permission-long
       . "Too long to show here.  A key that could grant it opens the full text first; a key that denies it works at once.\n")
      (permission-open . "Read it to the end, then press the number of your answer")
      (permission-unread
       . "Not sent: scroll through the whole permission without skipping any part, then answer again")
      (context-loading . "… (loading the rest)\n")
      (no-templates . "You have no templates for mentions here; customize `hive-reply-templates'")

      ;; Sending an answer
      (answer-queued . "Answer queued")
      (answers-queued . "%d answers queued")
      (late-answer-queued . "Late answer queued")
      (answer-queued-lost
       . "This question is already %s, so your answer will not count; it is still sent, and its text is in the kill ring")
      (answer-queued-closed
       . "This question is already %s; your answer will be stored as late.  Its text is in the kill ring")
      (answered . "Answered %s: %s (stored)")
      (answered-late . "Your answer to %s came late; it is stored, and the agent will see it")
      (answered-second . "Your answer to %s was not accepted; %s answered first: %s")
      (answer-rejected . "Your answer to %s could not be stored: %s  (M-x hive-doctor shows it)")
      (answer-unsaved
       . "Hive could not save your answer (%s).  Nothing was sent; the text is in the kill ring")
      (message-unsaved
       . "Hive could not save your message (%s).  Nothing was sent; the text is in the kill ring")
      (delete-rejected . "Delete %s? ")
      (no-answer . "No answer given; %s")
      (still-pending . "still pending")
      (still-all-pending . "No answer given; all still pending")
      (already-closed . "the question is already %s")
      (stays-closed . "the question stays %s")
      (answered-by-other . "%s already answered \"%s\": %s")
      (answered-handed
       . "You answered \"%s\": %s; this answer was already delivered to %s, so send a message instead")
      (answered-amendable . "You already answered \"%s\": %s; M-x hive-amend corrects it")
      (answer-unstored
       . "Your answer to \"%s\" is not stored yet; once it is, M-x hive-amend corrects it")
      (fate-answered . "answered by %s")
      (fate-expired . "expired")
      (fate-cancelled . "cancelled")
      (fate-closed . "closed")

      ;; Cancelling and snoozing
      (cancel-this? . "Cancel this question? ")
      (cancel-of? . "Cancel %s's question? ")
      (cancelled . "Cancelled %s's question")
      (cancel-late . "Not cancelled: %s's question is already %s")
      (cancel-failed . "Hive could not cancel the question: %s")
      (snoozed . "Snoozed %s for %s")
      (unsnoozed . "Un-snoozed %s")
      (snooze-failed . "Hive could not snooze the question: %s")
      (unsnooze-failed . "Hive could not un-snooze the question: %s")

      ;; `hive-next'
      (next-dropped . "  (keys typed before this appeared were ignored)")
      (next-choose-first . "Choose an option first, or press e to type an answer")
      (next-options-only . "This question accepts only its options")
      (next-stray . "%s does nothing here; q leaves")
      (next-confirm . "\nRET or y gives this answer   n goes back")
      (next-macro . "A keyboard macro cannot answer questions, because nobody would have read them")
      (next-done . "%d answered; no other questions")
      (next-none . "No other questions are pending")
      (next-more . "  (%d more)")
      (key-send . "RET send")
      (key-own-words . "RET type an answer")
      (key-e-own-words . "e type an answer")
      (key-skip . "TAB skip")
      (key-snooze . "s snooze")
      (key-full . "? full question")
      (key-leave . "q leave")

      ;; Correcting an answer
      (which-correct . "Correct which answer: ")
      (correct-answer-to . "Correct your answer to %s: ")
      (amend-handed . "  (already delivered)")
      (amend-late . "  (came late)")
      (amend-comment . "Comment (empty for none): ")
      (amend-none . "You have no recent answers to correct")
      (amend-nothing . "No correction given; your answer is unchanged")
      (amend-too-late . "This answer was delivered to %s %s ago; send a message instead")
      (amend-queued . "Correction queued")
      (amended . "Corrected: %s (stored)")
      (amend-rejected
       . "Your answer is unchanged: %s  (your correction is in the kill ring; M-x hive-doctor shows it)")

      ;; Writing an answer in a buffer
      (draft-kept . "Draft saved; %s")
      (draft-unsaved . "Hive could not save your draft (%s); it exists only in its buffer")
      (compose-lost
       . " This question is already %s.  Your answer would not be accepted; your text stays here.")
      (compose-closed
       . " This question is already %s.  If you send your answer, it is stored as late; your text stays here.")

      ;; One question in a buffer
      (prompt-fetch-failed . "Hive could not fetch the question: %s")
      (prompt-no-option . "This question has no option %d")
      (prompt-closed . "This question is no longer pending")
      (permission? . "This is a PERMISSION.  Answer \"%s\"? ")

      (note-added . "The agent added %s ago: %s")
      (answer-with-option . "Answer with this option")
      (expires-in . "expires in %s")
      (session-ended . "its session ended")

      (heading-the-answer . "Answer")
      (heading-late-answer . "Late answer")
      (heading-options . "Options")
      (heading-context . "Context")
      (heading-events . "What happened")
      (heading-others . "From the same agent")
      (answer-by . "by %s via %s, %s ago\n")

      ;; What happened to a question
      (receipt-created . "asked")
      (receipt-offered . "shown at a desk")
      (receipt-seen . "seen")
      (receipt-responded . "answered")
      (receipt-handed . "delivered to the agent")
      (receipt-collected . "collected by the agent")
      (somebody . "somebody")
      (event-created . "asked")
      (event-noted . "the agent added a note")
      (event-offered . "shown at a desk")
      (event-seen . "seen")
      (event-claimed . "%s began to answer")
      (event-released . "%s stopped answering")
      (event-responded . "answered by %s: %s")
      (event-late-response . "answered late by %s: %s")
      (event-lost-response . "a second answer, by %s, was not accepted: %s")
      (event-amended . "answer corrected by %s: %s")
      (event-expired . "expired")
      (event-cancelled . "cancelled by %s")
      (event-handed . "answer delivered to the agent")
      (event-handed-again . "answer delivered to the agent again")
      (event-collected . "answer collected by the agent")
      (event-snoozed . "snooze changed")
      (event-escalated . "escalated: now for everybody")
      (event-moved . "moved to the agent's next session")
      (event-orphaned . "its session ended")
      (event-adopted . "its session resumed")
      (event-popup . "popup %s%s")
      (event-popup-sent . "sent")
      (event-popup-failed . "failed")
      (event-popup-held-back . "held back")
      (held-back-low . "low urgency")
      (held-back-never . "popups are turned off")
      (held-back-focused . "Emacs had the focus")
      (held-back-project . "the project is muted")
      (held-back-agent . "the agent is muted")
      (held-back-do-not-disturb . "do not disturb was on")
      (held-back-hours . "quiet hours")
      (held-back-criticals . "too many critical questions in a quiet time")
      (held-back-settled . "no longer pending")

      ;; The list of questions
      (list-empty . "No questions are pending.")
      (list-none-here . "There is no question on this line")
      (list-fetch-failed . "Hive could not fetch the list: %s")
      (list-permission . "perm")
      (list-outcome . "%s (%s)")
      (list-outcome-late . "late: %s (%s)")
      (list-range . " %d-%d of %d")
      (list-part . " %d of %d")
      (list-marked . " %d marked")
      (last-page . "This is the last page")
      (first-page . "This is the first page")
      (which-agent . "Questions from agent: ")
      (which-project . "Questions from project: ")
      (which-kind . "Kind: ")
      (which-text . "Questions containing: ")
      (which-recipient . "Questions for: ")
      (batch-lead . "Answer %s%s: ")
      (batch-permissions . ", including %s")
      (batch-nothing-common . "These questions have no option in common; answer them one by one")
      (batch-permissions? . "Answer %s with \"%s\"? ")

      ;; Interrupting
      (interrupt? . "Interrupt %s? ")
      (interrupt-one? . "Interrupt the one running agent (%s)? ")
      (interrupt-all? . "Interrupt all %d running agents? ")
      (which-interrupt . "Interrupt")
      (which-withdraw . "Withdraw the interrupt for")
      (interrupt-why . "Reason for %s (RET for none): ")
      (interrupt-all-why . "Reason for all (RET for none): ")
      (interrupt-sent . "Asked %s to stop…")
      (interrupt-all-sent . "Asked all running agents to stop…")
      (interrupt-result . "%s: %s")
      (interrupt-failed . "Hive could not interrupt %s: %s")
      (interrupt-all-result . "%d of %d agents stopped%s")
      (interrupt-all-failed . "Hive could not interrupt all agents: %s")
      (interrupt-all-none . "No agent was running")
      (interrupt-none . "No agents are running")
      (interrupt-none-asked . "No interrupt is pending")
      (interrupt-withdrawn . "Withdrew the interrupt for %s")
      (interrupt-nothing-to-withdraw . "There is no pending interrupt for %s")
      (interrupt-withdraw-failed . "Hive could not withdraw the interrupt: %s")
      (asked-to-stop . "  asked to stop")
      (doing . "%s for %s")
      (running . "running for %s")
      (terminal-gone . "%s is no longer running")
      (terminal-elsewhere . "%s is not running in a terminal of this Emacs")
      (terminal-failed . "Hive could not find out where %s runs: %s")

      ;; Sessions
      (which-session . "Session: ")
      (no-agents . "No agents are online")
      (no-session-chosen . "No session chosen")
      (no-session-here . "There is no session on this line")
      (no-directory . "There is no directory %s on this machine")
      (session-none-pending . "%s has no pending questions")
      (which-setting . "Change which setting of %s: ")
      (nothing-chosen . "Nothing chosen")
      (setting-saved . "Changed the setting %s of %s")
      (setting-failed . "Hive could not change the setting: %s")
      (sessions-more . " [the newest %d; there are more]")
      (session-why . "Reason (RET for none): ")
      (session-not-shared . "[not shared] ")
      (setting-shared . "May other agents mention it? ")
      (setting-roles . "Its roles, such as reviewer: ")
      (setting-gate . "What unprocessed mentions do to its tool calls: ")
      (setting-source . "How it runs: ")
      (setting-ping . "May it ping you? ")
      (setting-reports . "When it must report: ")

      ;; Mentions
      (mentions-yours . "Mentions of you")
      (mentions-of . "Mentions of %s")
      (mentions-summary . " %s: %d in total, %d processed, %d unprocessed")
      (mentions-expired . ", %d expired")
      (mention-processed . "processed by %s%s")
      (mention-expired . "expired")
      (mark-urgent . "urgent")
      (mark-critical . "critical")
      (mark-wants-answer . "expects a reply")
      (mark-reply . "reply")
      (mark-as . "as %s")
      (mention-delivered . "delivered %s ago")
      (mentions-gating . "; %d hold it, %d tool calls denied")
      (mentions-none . "No unprocessed mentions.")
      (mentions-more . "There are more; + shows them.\n")
      (mentions-no-more . "There are no more mentions")
      (mentions-last . "This is the last mention")
      (mentions-first . "This is the first mention")
      (mention-none-here . "There is no mention here")
      (mention-already-done . "This mention is already processed")
      (mention-already-expired . "This mention has expired")
      (mentions-none-open . "There are no unprocessed mentions")
      (mentions-all-done? . "%s: mark all %d as processed? ")
      (mentions-done . "Marked %s as processed; %s left")
      (mentions-done-failed . "Hive could not mark the mention as processed: %s")
      (mentions-fetch-failed . "Hive could not fetch the mentions: %s")
      (which-done-note . "Note (what was done): ")
      (which-mentions-of . "Mentions of (empty for yours): ")
      (answer-mention . "Answer %s: ")

      ;; Posting
      (everyone . "everyone")
      (post-to . "Post to %s: ")
      (tell . "Message to @%s: ")
      (which-mention . "Mention: ")
      (with-templates . "%s (M-n: templates): ")
      (post-empty . "There is nothing to post; write something first")
      (post-too-long
       . "This message is too long: the limit is 32 KB; put the rest into a file and name the file")
      (mention-nobody . "No name given")
      (message-queued . "Message queued")
      (message-kept . "Message saved; it will be posted when the sidecar connects")
      (posted-but . "Posted.  %s")
      (message-rejected . "Your message could not be stored: %s  (it is in the kill ring)")
      (block-failed . "A message found in %s was not posted: %s")
      (block-rejected . "A message found in %s could not be stored: %s")
      (block-posting . "[posting]\n")
      (block-not-posted . "[not posted: %s]\n")

      ;; Shared buffers
      (shared-not-connected . "   not connected")
      (shared-rule . "-------- write below, C-c C-c posts ")
      (button-earlier . "[Earlier messages]")
      (button-later . "[Later messages]")
      (button-answer . "[answer]")
      (button-answer-help . "Answer this mention of you")
      (button-done . "[done]")
      (button-done-help . "Mark this mention as processed")
      (heading-unverified . "Posted under a name that was not verified")
      (heading-answer . "RET answers this message")
      (shared-shown . "   %d shown")
      (shared-later . "   later messages below: C-c C-l")
      (shared-for-you . "   %d for you")
      (shared-fetch-failed . "Hive could not fetch the messages: %s")
      (shared-first . "There are no earlier messages")
      (shared-last . "There are no later messages")
      (shared-first-message . "No earlier message is shown")
      (shared-no-next-mention . "You are not mentioned after this point")
      (shared-no-previous-mention . "You are not mentioned before this point")
      (shared-narrowed . "Showing only this thread")
      (shared-widened . "Showing all messages")
      (shared-saved . "Wrote %s to %s")
      (no-message-here . "There is no message here")
      (shared-not-above . "Messages are not edited here; write below the line (M->)")
      (no-mention-in-message . "This message has no unprocessed mention of you")
      (no-draft . "There is no draft")
      (draft-discarded . "Draft discarded; its text is in the kill ring")
      (draft-keys
       . "\\<hive-shared-mode-map>\\[hive-shared-post] posts your message, \\[hive-shared-discard] discards it")
      (draft-keys-templates
       . "\\<hive-shared-mode-map>\\[hive-shared-post] posts your message, \\[hive-shared-discard] discards it, \\[hive-shared-insert-template] inserts a template")
      (draft-urgent . "The message will be urgent")
      (draft-normal . "The message will have normal priority")
      (target-answers . "answering %s: %s")
      (target-thread . "in thread %s")
      (which-template . "Insert template: ")
      (which-thread . "Thread: ")
      (which-shared . "Shared buffer of: ")
      (which-shared-file . "Save messages to: ")
      (shared-done-note . "Note (what was done): ")
      (handle-ambiguous . "\"%s\" matches several names: %s")
      (handle-all . "  everyone here")
      (handle-you . "  you")
      (handle-role . "  role")

      ;; Cards, pings and reports
      (card-closed . "This card is already answered or closed")
      (outreach-empty . "Nothing here yet.\n")
      (outreach-older . "%s shows older ones\n")
      (outreach-fetch-failed . "Hive could not fetch the cards, pings and reports: %s")
      (nothing-older . "There is nothing older")
      (which-outreach . "Show only (ping, card, report): ")

      ;; History
      (which-search . "Search the history for: ")
      (which-search-agent . "Only agent: ")
      (which-search-project . "Only project: ")
      (which-search-since . "Since (2026-01-31, 3h, 7d): ")
      (which-search-until . "Until (2026-01-31, 3h, 7d): ")
      (which-export . "Write to (.org or .md): ")
      (search-failed . "Hive could not search the history: %s")
      (no-entry-here . "There is no entry on this line")
      (history-message . "message")
      (date-unclear . "Type a date such as 2026-01-31, or an age such as 3h or 7d")
      (overwrite? . "Overwrite %s? ")
      (export-begins . "Writing %s…")
      (export-done . "Wrote %s to %s")
      (export-failed . "Hive could not write the file: %s")
      (export-declined . "Nothing was written"))
    "Every sentence that Hive shows: a name, and what `format-message' fills in."))

;;;; Using a sentence

(eval-and-compile
  (defun hive-messages--arguments (template)
    "Return how many arguments TEMPLATE takes."
    (let ((count 0) (start 0))
      (while (string-match "%[sd]" template start)
        (setq count (1+ count) start (match-end 0)))
      count))

  (defun hive-messages-check (form key &rest args)
    "Return FORM, which uses the sentence KEY with ARGS; warn when it is wrong."
    (let ((template (and (eq 'quote (car-safe key))
                         (alist-get (cadr key) hive-messages 'missing))))
      (cond ((eq template 'missing)
             (macroexp-warn-and-return (format "`hive-messages' has no %s" key) form))
            ((and template (/= (length args) (hive-messages--arguments template)))
             (macroexp-warn-and-return
              (format "%s takes %d arguments" key (hive-messages--arguments template)) form))
            (t form)))))

(defun hive-words (key &rest args)
  "Return the sentence KEY of `hive-messages', filled in with ARGS."
  (declare (compiler-macro hive-messages-check))
  (apply #'format-message
         (or (alist-get key hive-messages) (error "`hive-messages' has no %s" key))
         args))

(defun hive-say (key &rest args)
  "Show the sentence KEY, filled in with ARGS, in the echo area.
It must be what the human's own command came to; for anything else
see `hive-announce'."
  (declare (compiler-macro hive-messages-check))
  (message "%s" (apply #'hive-words key args)))

(defun hive-fail (key &rest args)
  "Signal a `user-error' with the sentence KEY, filled in with ARGS."
  (declare (compiler-macro hive-messages-check))
  (user-error "%s" (apply #'hive-words key args)))

(defun hive-count (number noun &optional nouns)
  "Return NUMBER and NOUN, or unless NUMBER is 1, NOUNS.
That is NOUN with an s by default."
  (format "%d %s" number (if (= number 1) noun (or nouns (concat noun "s")))))

(provide 'hive-messages)
;;; hive-messages.el ends here
