;;; hive-attention-test.el --- When and how the human is notified  -*- lexical-binding: t; -*-

;; Tags: undisturbed

(require 'hive-test-help)

(require 'hive-attention)
(require 'hive-notify)
(require 'hive-next)
(require 'hive-mode-line)
(require 'hive-respond)
(require 'hive-read)

(defmacro hive-attention-test (&rest body)
  "Run BODY with an empty model, and empty it afterwards."
  (declare (indent 0))
  `(let ((hive-mode t))
     (unwind-protect (progn (hive-model-forget) ,@body)
       (hive-model-forget)
       (hive-respond--plan))))

;;;; Mode line

(ert-deftest hive-mode-line-has-a-face-for-each-urgency ()
  (hive-attention-test
    (should-not (hive-mode-line--text))
    (pcase-dolist (`(,urgency . ,face) '(("low" . hive-mode-line-low) ("normal" . hive-mode-line-waiting)
                                         ("critical" . hive-mode-line-critical)))
      (hive-model-put-prompt (hive-test-prompt :urgency urgency))
      (should (eq face (get-text-property 1 'face (hive-mode-line--text)))))
    ;; Only a critical one has the mark.
    (should (equal " hive 3!" (substring-no-properties (hive-mode-line--text))))
    (should (eq 'hive-next (lookup-key hive-mode-line-map [mode-line mouse-1])))))

(ert-deftest hive-mode-line-counts-what-blocks-an-agent-separately ()
  (hive-attention-test
    (hive-model-put-prompt (hive-test-prompt :ask_id "a" :urgency "low" :blocked_since "2026-01-01"))
    (hive-model-put-prompt (hive-test-prompt :ask_id "b" :urgency "low" :blocked_since "2026-01-01"))
    (should (equal " hive 2‖" (substring-no-properties (hive-mode-line--text))))
    (dotimes (n 5)
      (hive-model-put-prompt (hive-test-prompt :ask_id (number-to-string n) :urgency (if (= n 4) "critical" "low"))))
    (should (equal " hive 2‖5!" (substring-no-properties (hive-mode-line--text))))
    ;; Where a terminal has no such character, it would be drawn as its number.
    (cl-letf (((symbol-function 'char-displayable-p) #'ignore))
      (hive-model--run-changed)
      (should (equal " hive 2|5!" (substring-no-properties (hive-mode-line--text)))))
    (hive-model--run-changed)
    ;; The colour is that of the most urgent one, wherever it is.
    (should (eq 'hive-mode-line-critical (get-text-property 1 'face (hive-mode-line--text))))
    (should (string-prefix-p "2 questions block their agents; 5 wait while their agents work\n"
                             (get-text-property 1 'help-echo (hive-mode-line--text))))))

(ert-deftest hive-what-a-session-asked-that-has-ended-is-marked-and-counts-as-neither-pending-nor-blocking ()
  (hive-attention-test
    (hive-model-put-prompt (hive-test-prompt :ask_id "dead" :orphaned t :urgency "critical"
                                             :blocked_since "2026-01-01" :created_at "2026-01-01"))
    (should (equal " hive 1 ended" (substring-no-properties (hive-mode-line--text))))
    (should (eq 'hive-mode-line-low (get-text-property 1 'face (hive-mode-line--text))))
    (hive-model-put-prompt (hive-test-prompt :ask_id "live" :created_at "2026-01-02"))
    (should (equal " hive 1, 1 ended" (substring-no-properties (hive-mode-line--text))))
    ;; A question whose session still runs comes first.
    (should (equal '("live" "dead") (mapcar (lambda (prompt) (plist-get prompt :ask_id))
                                            (hive-prompts-offered))))
    (should (string-match-p "\\[session ended\\] " (hive-next--heading (hive-model-prompt "dead") 0 "Dead?")))
    (should (string-match-p "\\[session ended\\] " (hive-list--question (hive-model-prompt "dead"))))
    ;; The session resumed.
    (hive-model-put-prompt (hive-test-prompt :ask_id "dead" :orphaned :json-false))
    (should (equal " hive 2" (substring-no-properties (hive-mode-line--text))))))

(ert-deftest hive-one-key-cancels-what-sessions-asked-that-have-ended ()
  (hive-test-connected
    (dolist (fields '((:question "Dead?" :orphaned t) (:question "Live?") (:question "Gone?" :orphaned t)))
      (hive-test-call 'fake/ask fields))
    (hive-test-wait 5 (= 3 (length (hive-prompts))))
    (let ((keys (list ?\t ?C ?q)) (shown nil))
      (cl-letf (((symbol-function 'hive-keys-read) (lambda (text &rest _) (push text shown) (pop keys))))
        (hive-next))
      (should (string-match-p "Live\\?" (car (last shown))))
      (should-not (string-match-p "C cancel" (car (last shown))))
      (should (string-match-p "\\[session ended\\] \\(?:.\\|\n\\)*C cancel all that have ended" (car shown)))
      (should (= 2 (length shown))))
    (hive-test-wait 5 (= 1 (length (hive-prompts))))
    (should (equal "Live?" (plist-get (car (hive-prompts)) :question)))
    (should-error (hive-cancel-ended) :type 'user-error)))

(ert-deftest hive-mode-line-does-not-count-snoozed-questions ()
  (hive-attention-test
    (hive-model-put-prompt (hive-test-prompt :urgency "low"))
    (hive-model-put-prompt (hive-test-prompt :urgency "critical" :ask_id "away"
                                             :snoozed_until (hive-test-time 3600)))
    (should (equal " hive 1" (substring-no-properties (hive-mode-line--text))))
    (should (eq 'hive-mode-line-low (get-text-property 1 'face (hive-mode-line--text))))
    ;; If it is answered after all, it is not counted twice.
    (hive-model-put-prompt (hive-test-prompt :ask_id "away" :status "responded"))
    (should (= 1 (hive-prompts-awake)))))

;;;; Snoozing

(ert-deftest hive-snooze-ends-at-its-time ()
  (hive-attention-test
    (let* ((arrived nil)
           (hive-arrived-functions (list (lambda (prompt) (push (plist-get prompt :ask_id) arrived)))))
      (hive-model-put-prompt (hive-test-prompt :ask_id "one" :snoozed_until (hive-test-time 0.2)))
      (hive-model-put-prompt (hive-test-prompt :ask_id "two" :snoozed_until (hive-test-time 3600)))
      (should (= 0 (hive-prompts-awake)))
      (hive-test-wait 3 arrived)
      (should (equal '("one") arrived))
      (should (= 1 (hive-prompts-awake)))
      (should (equal "one" (plist-get (hive-prompts-first) :ask_id))))))

(ert-deftest hive-snooze-an-answered-question-does-not-come-back ()
  (hive-attention-test
    (hive-model-put-prompt (hive-test-prompt :ask_id "one" :snoozed_until (hive-test-time 60)))
    (hive-test-wait 2 hive-respond--timer)
    (hive-model-put-prompt (hive-test-prompt :ask_id "one" :status "responded"))
    (hive-test-wait 2 (null hive-respond--timer))))

;;;; Templates

(ert-deftest hive-template-is-for-its-kind-and-project ()
  (let ((hive-reply-templates '((nil nil "any" "twice") ("permission" nil "perm") (nil "demo" "demo" "twice")
                                ("permission" "rocket" "both"))))
    (should (equal '("any" "twice" "demo") (hive-template-texts (hive-test-prompt))))
    (should (equal '("any" "twice" "perm" "both")
                   (hive-template-texts (hive-test-prompt :kind "permission" :project "rocket"))))
    (should-not (hive-template-texts (hive-test-prompt :allow_free_text :json-false)))
    ;; Mentions have a sentence of their own, and so have several kinds together.
    (push '("mention" "rocket" "seen") hive-reply-templates)
    (should (equal '("seen" "any" "twice") (hive-template-messages "rocket")))
    (should (equal '("any" "twice" "demo") (hive-template-messages "demo")))
    (should-not (member "seen" (hive-template-texts (hive-test-prompt :project "rocket"))))
    (let ((hive-reply-templates '(("question" nil "no"))))
      (should-not (hive-template-messages "demo")))))

(ert-deftest hive-template-has-a-key-in-next ()
  (hive-test-with-desk nil
    (let ((hive-reply-templates '((nil nil "100% yes, small")))
          (keys (list ?3 ?1 ?3)) (shown nil))
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:ask_id "p1" :created_at "2026-01-01" :options [(:label "a") (:label "b")]))
      (hive-test-call 'fake/ask '(:ask_id "p2" :created_at "2026-01-02" :multi_select t
                                          :options [(:label "a") (:label "b")]))
      (hive-test-wait 5 (= 2 (length (hive-prompts))))
      (cl-letf (((symbol-function 'hive-keys-read) (lambda (text &rest _) (push text shown) (or (pop keys) ?q))))
        (hive-next))
      (hive-test-wait 5 (= 2 (length (hive-test-answers))))
      (should (string-match-p " 3  100% yes, small" (car (last shown))))
      (should (equal "100% yes, small" (plist-get (nth 0 (hive-test-answers)) :decision)))
      ;; Text typed in addition to an option is a comment.
      (should (equal ["a"] (plist-get (nth 1 (hive-test-answers)) :selected)))
      (should (equal "100% yes, small" (plist-get (nth 1 (hive-test-answers)) :comment))))))

(ert-deftest hive-template-is-a-candidate-in-respond ()
  (hive-test-with-desk nil
    (let ((hive-reply-templates '((nil nil "as always"))) asked)
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:question "How?"))
      (hive-test-wait 5 (hive-prompts))
      (setq asked (hive-test-with-inputs (list "as always") (hive-respond)))
      (should (equal '("as always") (cdar asked)))
      (hive-test-wait 5 (= 1 (length (hive-test-answers))))
      (should (equal "as always" (plist-get (car (hive-test-answers)) :decision))))))

;;;; The side window

(ert-deftest hive-side-window-is-shown-and-never-selected ()
  (hive-test-with-desk nil
    (save-window-excursion
      (delete-other-windows)
      (let ((hive-side-window 'bottom) (selected (selected-window)) (point (point)))
        (hive-test-connect)
        (hive-test-call 'fake/ask '(:ask_id "p1" :question "Here?"))
        (hive-test-wait 5 (get-buffer-window "*hive*"))
        (should (eq selected (selected-window)))
        (should (= point (point)))
        (should (eq 'bottom (window-parameter (get-buffer-window "*hive*") 'window-side)))
        ;; It disappears when no question is pending.
        (hive-test-call 'fake/change '(:ask_id "p1" :status "responded"))
        (hive-test-wait 5 (null (get-buffer-window "*hive*")))))))

(ert-deftest hive-side-window-waits-for-a-busy-human-and-stays-closed ()
  (hive-test-with-desk nil
    (save-window-excursion
      (delete-other-windows)
      (let ((hive-side-window 'bottom) (busy t))
        (hive-test-connect)
        (cl-letf (((symbol-function 'hive-notify-busy-p) (lambda () busy)))
          (hive-test-call 'fake/ask nil)
          (hive-test-wait 5 (hive-prompts))
          (hive-test-run-timers 2)
          (should-not (get-buffer-window "*hive*"))
          (setq busy nil)
          (hive-test-wait 5 (get-buffer-window "*hive*"))
          (delete-window (get-buffer-window "*hive*"))
          (hive-changed)
          (hive-test-run-timers 2)
          (should-not (get-buffer-window "*hive*")))))))

;;;; Quiet times

(defmacro hive-attention-test-quiet (&rest body)
  "Run BODY; collect messages in the variable `said', and cancel the timers."
  (declare (indent 0))
  `(hive-attention-test
     (let (said (hive-attention--since nil) (hive-attention--end-timer nil) (hive-attention--hours-timer nil))
       (cl-letf (((symbol-function 'hive-notify-say)
                  (lambda (format &rest args) (push (apply #'format format args) said)))
                 ((symbol-function 'hive-attention-tell)
                  (lambda (_ &optional then) (funcall then nil))))
         (unwind-protect (progn ,@body)
           (dolist (timer (list hive-attention--end-timer hive-attention--hours-timer))
             (when timer (cancel-timer timer))))))))

(ert-deftest hive-do-not-disturb-ends-with-a-digest ()
  (hive-attention-test-quiet
    (hive-do-not-disturb 10)
    (should (string-match-p "for 10 minutes" (car said)))
    (hive-model-put-prompt (hive-test-prompt :created_at (hive-test-time 1)))
    (hive-do-not-disturb)
    (should (equal "Do not disturb is off; 1 question arrived" (car said)))
    (should-not hive-attention--end-timer)))

(ert-deftest hive-do-not-disturb-goes-on-in-an-emacs-that-starts-later ()
  (hive-attention-test-quiet
    (hive-attention--apply (list :do_not_disturb (hive-test-time 0.1)))
    (hive-model-put-prompt (hive-test-prompt :created_at (hive-test-time 1)))
    (hive-test-wait 3 said)
    (should (equal '("Do not disturb is off; 1 question arrived") said))
    ;; Quiet hours that are over, or not set, start nothing.
    (hive-attention--apply (list :do_not_disturb (hive-test-time -60)))
    (hive-attention--apply (list :do_not_disturb :json-false))
    (should-not hive-attention--since)))

(ert-deftest hive-do-not-disturb-ends-when-a-shell-says-while-it-is-on ()
  (hive-attention-test-quiet
    (hive-attention--apply (list :do_not_disturb t))
    (should-not hive-attention--end-timer)
    (hive-model-put-prompt (hive-test-prompt :created_at (hive-test-time 1)))
    (let ((since hive-attention--since))
      (hive-attention--apply (list :do_not_disturb (hive-test-time 60)))
      (hive-attention--apply (list :do_not_disturb (hive-test-time 7200)))
      (should (< 7100 (- (float-time (timer--time hive-attention--end-timer)) (hive-now)) 7300))
      (hive-attention--apply (list :do_not_disturb (hive-test-time 0.1)))
      (should (equal since hive-attention--since)))
    (hive-test-wait 3 said)
    (should (equal '("Do not disturb is off; 1 question arrived") said))))

(ert-deftest hive-quiet-hours-end-with-a-digest-and-come-again ()
  (hive-attention-test-quiet
    (let ((hive-sidecar-state 'connected) (asked nil)
          (began (hive-now)) (ends-at (hive-test-time 7200)))
      (cl-letf (((symbol-function 'hive-sidecar-connected-p) #'always)
                ((symbol-function 'hive-attention-tell) (lambda (params &rest _) (push params asked))))
        (hive-attention--apply (list :quiet_times (list :begins_at (hive-test-time -7200)
                                                        :ends_at ends-at)))
        (should (hive-attention--hours-p))
        ;; The store's clock may be a second behind.
        (let ((end (1+ (hive-text-seconds ends-at))))
          (should (<= end (float-time (timer--time hive-attention--hours-timer))
                      (+ end (- (hive-now) began)))))
        (hive-model-put-prompt (hive-test-prompt :ask_id "before" :created_at (hive-test-time -7300)))
        (hive-model-put-prompt (hive-test-prompt :ask_id "within" :created_at (hive-test-time -60)))
        (hive-model-put-prompt (hive-test-prompt :ask_id "too" :created_at (hive-test-time -30)))
        (let ((timer hive-attention--hours-timer))
          (cancel-timer timer)
          (apply (timer--function timer) (timer--args timer)))
        (should (equal '("Quiet hours are over; 2 questions arrived") said))
        (should-not (hive-attention--hours-p))
        ;; The sidecar sends the next ones.
        (should (equal '(nil) asked))
        (hive-attention--apply (list :quiet_times (list :begins_at (hive-test-time 3600)
                                                       :ends_at (hive-test-time 7200))))
        (should hive-attention--hours-timer)
        (should-not (hive-attention--hours-p))
        ;; If they are removed, there is nothing to wait for.
        (hive-attention--apply nil)
        (should-not hive-attention--hours-timer)))))

(ert-deftest hive-quiet-hours-without-arrivals-end-without-a-message ()
  (hive-attention-test-quiet
    (hive-attention--hours-end (hive-text-before 3600))
    (should-not said)))

;;;; Settings for the sidecar

(ert-deftest hive-settings-are-sent-as-the-sidecar-takes-them ()
  (should-not (hive-attention--parameters nil))
  (should (equal '( :quiet_hours (:from "22:00" :to "07:30") :sound :json-false :gate "remind"
                    :dialog_wait 30 :wake "off" :notify_held 0 :popup_permissions t
                    :outreach (:allow_ping :json-false :report_policy "always"))
                 (hive-attention--parameters
                  '((quiet_hours . "22:00-07:30") (sound . nil) (allow_ping . nil) (gate . remind)
                    (dialog_wait . 30) (wake . off) (notify_held . 0) (popup_permissions . t)
                    (report_policy . always)))))
  (should (equal '(:quiet_hours nil) (hive-attention--parameters '((quiet_hours . nil))))))

(ert-deftest hive-settings-have-a-type-that-takes-what-is-documented ()
  (require 'wid-edit)
  (let ((widget (widget-convert (get 'hive-settings 'custom-type))))
    (should (widget-apply widget :match '((gate . remind) (quiet_hours . "22:00-07:30") (sound . nil))))
    (should-not (widget-apply widget :match '((gate . sometimes))))
    (should-not (widget-apply widget :match '((no_such_setting . t))))))

(ert-deftest hive-settings-shows-each-with-its-value-and-sets-one ()
  (hive-attention-test
    (let* ((hive-attention--current '( :gate "block" :quiet_hours nil :sound :json-false :wake 8
                                       :outreach (:allow_ping t :report_policy "on_ping")))
           (answers (list "gate" "remind" "wake" "12" "sound" "no" "quiet_hours" "22:00 - 07:30"
                          "quiet_hours" "none" "allow_ping" "default"))
           (hive-settings '((gate . block)))
           (told nil) (said nil) (asked nil))
      (should (equal '("block" "none" "no" "on_ping")
                     (mapcar (lambda (key)
                               (car (split-string (hive-attention--setting-annotation
                                                   (assq key hive-attention-settings)))))
                             '(gate quiet_hours sound report_policy))))
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (prompt &rest _) (push prompt asked) (pop answers)))
                ((symbol-function 'hive-attention-tell)
                 (lambda (parameters then) (push parameters told) (funcall then nil)))
                ((symbol-function 'hive-announce) (lambda (_name &rest args) (push args said))))
        (dotimes (_ 6) (call-interactively #'hive-settings)))
      (should (equal '((:gate "remind") (:wake 12) (:sound :json-false)
                       (:quiet_hours (:from "22:00" :to "07:30")) (:quiet_hours nil)
                       (:outreach (:allow_ping nil)))
                     (reverse told)))
      ;; It says that the option will set it again.
      (should (string-match-p "hive-settings has it" (nth 2 (car (last said)))))
      (should (equal "" (nth 2 (car said))))
      (should (member "wake in hours (now 8): " asked)))))

(ert-deftest hive-settings-refuses-what-a-setting-does-not-take ()
  "A value that means nothing for a setting must not restore its default."
  (cl-letf (((symbol-function 'hive-attention-tell) (lambda (&rest _) (ert-fail "It was sent"))))
    (pcase-dolist (`(,key ,given ,said)
                   '(("gate" "no" "gate takes one of strict, block, remind, off, not \"no\"")
                     ("gate" "3" "gate takes one of ")
                     ("wake" "none" "wake takes off, or a whole number of hours, not \"none\"")
                     ("phone_after" "-5" "phone_after takes a whole number, not \"-5\"")
                     ("sound" "loud" "sound takes yes or no, not \"loud\"")
                     ("quiet_hours" "25:00-26:00" "quiet_hours takes two times of day, such as")
                     ("quiet_hours" "no" "quiet_hours takes two times of day, such as")))
      (let ((answers (list key given)))
        (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) (pop answers))))
          (let ((err (should-error (call-interactively #'hive-settings) :type 'user-error)))
            (should (string-prefix-p said (cadr err)))))))))

(ert-deftest hive-attention-follows-what-a-shell-has-set ()
  (hive-attention-test
    (let ((hive-attention--current nil))
      (hive-rpc-handle 'desk/preferences_changed '(:preferences (:sound t)))
      (should (eq t (hive-attention-setting :sound))))))

(ert-deftest hive-attention-nobody-is-muted-by-an-empty-name ()
  (cl-letf (((symbol-function 'hive-rpc-request) (lambda (&rest _) (ert-fail "It was sent"))))
    (should-error (hive-mute-popups :muted_projects "") :type 'user-error)
    (should-error (hive-mute-popups :muted_agents "") :type 'user-error)))
