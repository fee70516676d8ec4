;;; hive-quiet-test.el --- The echo area and the mode line during quiet hours  -*- lexical-binding: t; -*-

;; Tags: undisturbed

(require 'cl-lib)
(require 'hive-attention)
(require 'hive-notify)
(require 'hive-test-help)

(defmacro hive-quiet-test (&rest body)
  "Run BODY connected, outside quiet hours; `told' is what was shown, newest first."
  (declare (indent 0))
  `(hive-test-with-desk nil
     (let ((told nil) (hive-attention--since nil) (hive-attention--end-timer nil) (hive-attention--current nil)
           (hive-attention--credits nil) (hive-attention--broke nil)
           (hive-attention--times nil) (hive-attention--hours-timer nil) (hive-attention--begin-timer nil)
           ;; Preferences of the sidecar would interfere.
           (hive-connected-hook (remq #'hive-attention-send hive-connected-hook)))
       (cl-letf (((symbol-function 'hive-notify--utter) (lambda (line _announced) (push line told))))
         (hive-test-connect)
         (unwind-protect (progn ,@body)
           (dolist (timer (list hive-attention--end-timer hive-attention--hours-timer hive-attention--begin-timer))
             (when timer (cancel-timer timer))))))))

(defun hive-quiet-test-ask (&rest fields)
  "Let an agent ask a question with FIELDS, and wait until it arrived."
  (let ((before (length (hive-prompts))))
    (hive-test-call 'fake/ask fields)
    (hive-test-wait 5 (> (length (hive-prompts)) before))))

(defun hive-quiet-test-stands (&rest preferences)
  "Set PREFERENCES, as the sidecar sends them."
  (hive-attention--apply preferences))

(defun hive-quiet-test-line ()
  "Return what the mode line shows, once it is up to date."
  (hive-test-wait 5 (not (hive-rpc-planned-p #'hive-model--run-changed)))
  (and hive-mode-line-text (substring-no-properties hive-mode-line-text)))

(ert-deftest hive-quiet-only-critical-questions-are-announced ()
  (hive-quiet-test
    (hive-quiet-test-stands :do_not_disturb t)
    (hive-quiet-test-ask :question "Normal?")
    (hive-quiet-test-ask :question "Critical?" :urgency "critical")
    (hive-test-wait 5 told)
    (should (= 1 (length told)))
    (should (string-match-p "Critical\\?" (car told)))
    (should-not (string-match-p "and 1 more" (car told)))
    ;; When they end, one line summarizes the rest; then everything is as before.
    (hive-quiet-test-stands :do_not_disturb :json-false)
    (hive-test-wait 5 (cdr told))
    (hive-quiet-test-ask :question "Later?")
    (hive-test-wait 5 (cddr told))
    (should (string-match-p "Later\\?" (car told)))))

(ert-deftest hive-quiet-only-a-few-critical-ones-break-it-and-the-rest-are-counted ()
  (hive-quiet-test
    (hive-quiet-test-stands :do_not_disturb t)
    (setq hive-attention--since (hive-text-before 60))
    (dotimes (n 5)
      (hive-quiet-test-ask :question (format "Critical %d?" n) :urgency "critical")
      (when (< n 3) (hive-test-wait 5 (= (length told) (1+ n)))))
    (should (= 3 (length told)))
    (should (string-match-p "Critical 2\\?" (car told)))
    ;; Asking again whether one of the first is suppressed changes nothing.
    (should-not (hive-notify-suppressed-p (cl-find "Critical 0?" (hive-prompts)
                                             :key (lambda (prompt) (plist-get prompt :question))
                                             :test #'equal)))
    ;; At three an hour, another one is allowed after twenty minutes.
    (setq hive-attention--credits (cons 0 (- (hive-now) 1201)))
    (should-not (hive-notify-suppressed-p '(:outreach_id "o-1" :kind "ping" :critical t)))
    (should (hive-notify-suppressed-p '(:outreach_id "o-2" :kind "ping" :critical t)))
    (hive-quiet-test-stands :do_not_disturb :json-false)
    (hive-test-wait 5 (cdddr told))
    (should (equal "Do not disturb is off; 5 questions arrived; 2 of them are critical and were not announced" (car told)))
    ;; The quiet hours are over: all are announced.
    (should-not (hive-notify-suppressed-p '(:outreach_id "o-3" :kind "ping" :critical t)))))

(ert-deftest hive-quiet-hours-hold-back-as-well ()
  (hive-quiet-test
    (cl-flet ((times (begin end)
                (cl-flet ((at (seconds) (format-time-string "%FT%T.%3NZ" (time-add nil seconds) t)))
                  (list :begins_at (at begin) :ends_at (at end)))))
      (hive-quiet-test-stands :quiet_times (times 7200 14400))
      (should-not (hive-notify-suppressed-p (hive-test-prompt)))
      (should hive-attention--begin-timer)
      (hive-quiet-test-stands :quiet_times (times -7200 7200))
      (should (hive-notify-suppressed-p (hive-test-prompt)))
      (should-not (hive-notify-suppressed-p (hive-test-prompt :urgency "critical")))
      (should (hive-notify-suppressed-p '(:kind "ping" :message "Built." :critical :json-false)))
      (should-not (hive-notify-suppressed-p '(:kind "ping" :message "Fire!" :critical t)))
      (should (string-match-p (concat "Quiet hours until "
                                      (format-time-string "%H:%M" (time-add nil 7200))) (hive-quiet-text)))
      (hive-quiet-test-stands)
      (should-not (hive-notify-suppressed-p (hive-test-prompt))))))

(ert-deftest hive-quiet-a-muted-project-is-not-announced ()
  (hive-quiet-test
    (hive-quiet-test-stands :muted_projects ["noisy" "/src/loud/.git"])
    (hive-quiet-test-ask :question "Muted?" :project "noisy")
    (hive-quiet-test-ask :question "Muted by its directory?" :project "loud" :project_dir "/src/loud/.git")
    (hive-quiet-test-ask :question "Heard?" :project "calm")
    (hive-test-wait 5 told)
    (should (= 1 (length told)))
    (should (string-match-p "Heard\\?" (car told)))
    ;; A muted agent does not mean quiet hours: the mode line counts and has no mark.
    (should (equal " hive 3" (hive-quiet-test-line)))))

(ert-deftest hive-quiet-a-muted-agent-is-announced-only-when-critical ()
  (hive-quiet-test
    (hive-quiet-test-stands :muted_agents ["Claude-loud1"])
    (hive-quiet-test-ask :question "Muted?" :agent "Claude-loud1")
    (hive-quiet-test-ask :question "Heard?" :agent "Claude-calm1")
    (hive-test-wait 5 told)
    (should (= 1 (length told)))
    (should (string-match-p "Heard\\?" (car told)))
    (should (hive-notify-suppressed-p '(:kind "ping" :agent "claude-LOUD1" :critical :json-false)))
    (should (hive-notify-suppressed-p '(:from_handle "Claude-loud1" :body "@Human look")))
    (should-not (hive-notify-suppressed-p (hive-test-prompt :agent "Claude-loud1" :urgency "critical")))
    ;; A muted agent does not mean quiet hours: the mode line counts and has no mark.
    (should (equal " hive 2" (hive-quiet-test-line)))
    (hive-quiet-test-stands :muted_agents [])
    (should-not (hive-notify-suppressed-p (hive-test-prompt :agent "Claude-loud1")))))

(ert-deftest hive-quiet-the-command-mutes-an-agent-and-unmutes-it ()
  (hive-quiet-test
    (let ((muted ["Claude-other"]) sent)
      (cl-letf (((symbol-function 'hive-attention-tell)
                 (lambda (preferences &optional then)
                   (when preferences
                     (push preferences sent)
                     (setq muted (plist-get preferences :muted_agents)))
                   (when then (funcall then (list :muted_agents muted))))))
        (hive-mute-popups :muted_agents "Claude-loud1")
        (hive-test-wait 5 told)
        (should (equal '((:muted_agents ["Claude-other" "Claude-loud1"])) sent))
        (should (equal "Popups of Claude-loud1 are off" (car told)))
        (hive-mute-popups :muted_agents "Claude-loud1")
        (hive-test-wait 5 (cdr told))
        (should (equal '(:muted_agents ["Claude-other"]) (car sent)))
        (should (equal "Popups of Claude-loud1 are on again" (car told)))))))

(ert-deftest hive-quiet-agents-are-muted-by-title-and-projects-by-name ()
  (hive-quiet-test
    (let ((session '( :session_id "s-1" :handle "Claude-abc12" :title "shop" :project "shop" :state "active")))
      (hive-rpc-handle 'session/changed session)
      (hive-quiet-test-stands :muted_agents ["Claude-other"])
      (cl-flet ((chosen (input)
                        (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) input)))
                          (hive-attention--read-mute))))
        (should (equal '(:muted_agents "Claude-abc12") (chosen "shop")))
        (should (equal '(:muted_projects "shop") (chosen "project shop")))
        (should (equal '(:muted_agents "Claude-other") (chosen "Claude-other")))
        (should (equal '(:muted_agents "Claude-new") (chosen "@Claude-new")))
        (should (equal '(:muted_projects "/srv/shop") (chosen "/srv/shop")))))))

(ert-deftest hive-quiet-pings-wait-to-be-read ()
  (hive-quiet-test
    (let ((ping '(:outreach_id "o-1" :kind "ping" :agent "Claude-abc12" :message "done" :status "sent")))
      (hive-quiet-test-stands :do_not_disturb t)
      (hive-rpc-handle 'outreach/received ping)
      (should-not hive-outreach--arrived)
      (setq hive-attention--since nil)
      (hive-rpc-handle 'outreach/received ping)
      (hive-test-wait 5 told)
      (should (equal '("Claude-abc12: done") told)))))

(defun hive-quiet-test-mention (number &rest fields)
  "Let the mention NUMBER of the human arrive, with FIELDS."
  (hive-rpc-handle 'mention/changed
                   (append fields
                           (list :mention_id (format "mention-%d" number) :message_id (format "msg-%d" number)
                                 :seq number :session_id "human" :status "unprocessed" :priority "normal"
                                 :from_handle "Claude-abc12" :body (format "@Human %d" number)
                                 :created_at (hive-test-time 1)))))

(ert-deftest hive-quiet-only-urgent-mentions-are-announced-and-the-end-counts-all-that-arrived ()
  (hive-quiet-test
    (hive-quiet-test-mention 0 :created_at (hive-test-time -60))
    (hive-test-wait 5 told)
    (hive-quiet-test-stands :do_not_disturb t)
    (hive-quiet-test-mention 1)
    (hive-quiet-test-mention 2 :priority "urgent")
    (hive-quiet-test-mention 3)
    (hive-rpc-handle 'outreach/received
                     (list :outreach_id "o-1" :kind "ping" :agent "Claude-abc12" :message "done" :status "sent"
                           :created_at (hive-test-time 1)))
    (hive-test-wait 5 (cdr told))
    (should (string-match-p "Claude-abc12 mentions you: @Human 2\\(?:  \\|$\\)" (car told)))
    (hive-quiet-test-mention 3 :status "processed")
    (hive-quiet-test-stands :do_not_disturb :json-false)
    (hive-test-wait 5 (cddr told))
    (should (equal "Do not disturb is off; 2 mentions, 1 ping arrived" (car told)))
    ;; The next time counts what arrives then.
    (hive-quiet-test-stands :do_not_disturb t)
    (setq hive-attention--since (hive-test-time 2))
    (hive-quiet-test-stands :do_not_disturb :json-false)
    (hive-test-wait 5 (cdddr told))
    (should (equal "Do not disturb is off; nothing new" (car told)))))

(ert-deftest hive-quiet-a-mention-by-a-muted-agent-is-announced-only-when-urgent ()
  (hive-quiet-test
    (hive-quiet-test-stands :muted_agents ["Claude-loud1"])
    (hive-quiet-test-mention 1 :from_handle "Claude-loud1")
    (hive-quiet-test-mention 2 :from_handle "Claude-loud1" :priority "urgent")
    (hive-test-wait 5 told)
    (should (= 1 (length told)))
    (should (string-match-p "Claude-loud1 mentions you: @Human 2\\(?:  \\|$\\)" (car told)))))

(ert-deftest hive-quiet-is-shown-in-the-mode-line ()
  (hive-quiet-test
    (should-not (hive-quiet-test-line))
    (hive-quiet-test-stands :do_not_disturb t)
    (should (equal " hive z" (hive-quiet-test-line)))
    (should (string-match-p "M-x hive-do-not-disturb" (get-text-property 1 'help-echo hive-mode-line-text)))
    (hive-quiet-test-ask)
    (should (equal " hive 1 z" (hive-quiet-test-line)))
    (hive-quiet-test-stands :do_not_disturb :json-false)
    (should (equal " hive 1" (hive-quiet-test-line)))))

(ert-deftest hive-quiet-hours-that-are-not-times-are-ignored ()
  (dolist (times '("" (:begins_at "" :ends_at "07:30") (:begins_at 22 :ends_at 7)
                   (:begins_at "2026-01-01T00:00:00.000Z")))
    (ert-info ((format "%S" times))
      (hive-quiet-test
        (hive-quiet-test-stands :quiet_times times)
        (should-not (hive-quiet-text))
        (hive-quiet-test-ask :question "Go on?")
        (hive-test-wait 5 told)))))
