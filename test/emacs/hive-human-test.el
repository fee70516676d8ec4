;;; hive-human-test.el --- Several humans, seen from one desk  -*- lexical-binding: t; -*-

(require 'hive-test-help)

(require 'hive-list)
(require 'hive-next)

(defmacro hive-human-test-desk (&rest body)
  "Run BODY at the desk of Ada."
  (declare (indent 0))
  `(hive-test-connected
     ,@body))

(defun hive-human-test-ask (count &rest fields)
  "Ask a question with FIELDS and wait until COUNT are pending."
  (hive-test-call 'fake/ask fields)
  (hive-test-wait 5 (= (length (hive-prompts)) count)))

(ert-deftest hive-human-name-is-the-option-then-the-environment-then-the-login-name ()
  (let ((process-environment (cons "HIVE_USER=Eve" process-environment)))
    (let ((hive-user-name "Ada")) (should (equal (hive-human-name) "Ada")))
    (let ((hive-user-name nil)) (should (equal (hive-human-name) "Eve"))))
  (let ((process-environment (cons "HIVE_USER" process-environment)) (hive-user-name nil))
    (should (equal (hive-human-name) (user-login-name)))))

(ert-deftest hive-human-questions-for-others-are-listed-but-not-counted-or-announced ()
  (hive-human-test-desk
    (let* ((told nil)
           (hive-arrived-functions (list (lambda (prompt) (push (plist-get prompt :question) told)))))
      (hive-human-test-ask 1 :question "for Bob?" :to "Bob" :recipients ["bob"] :mine :json-false)
      (hive-human-test-ask 2 :question "for the team?" :to "Ops" :recipients ["ops" "alovelace"] :mine t)
      (hive-human-test-ask 3 :question "for all?")
      (should (= (hive-prompts-awake) 2))
      (should (equal (sort told #'string<) '("for all?" "for the team?")))
      (with-current-buffer (hive-list-buffer)
        (should (string-match-p "\\[for Bob\\] for Bob\\?" (buffer-string)))
        (hive-list-filter-for "OPS")
        (should-not (string-match-p "for Bob\\|for all" (buffer-string)))
        (should (string-match-p "for the team" (buffer-string)))))))

(ert-deftest hive-human-an-escalated-question-is-announced ()
  (hive-human-test-desk
    (let* ((told 0)
           (hive-arrived-functions (list (lambda (_) (setq told (1+ told))))))
      (hive-human-test-ask 1 :question "for Bob?" :to "Bob" :recipients ["bob"] :mine :json-false)
      (should (= told 0))
      (let ((escalated (plist-put (plist-put (copy-sequence (car (hive-prompts)))
                                             :escalated_at "2026-01-01T00:00:00.000Z")
                                  :mine t)))
        (hive-model--receive escalated)
        (hive-model--receive (copy-sequence escalated)))
      (should (= told 1))
      (should (= (hive-prompts-awake) 1)))))

(ert-deftest hive-human-next-skips-questions-for-others ()
  (hive-human-test-desk
    (hive-human-test-ask 1 :question "for Bob?" :to "Bob" :recipients ["bob"] :mine :json-false)
    (let ((said nil))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (setq said (apply #'format args)))))
        (hive-next))
      (should (string-match-p "No questions are pending for you now (1 for others; M-x hive-list shows them)" said)))))

(defun hive-human-test-claims ()
  "Return the claims and releases, in order."
  (hive-test-wait 5 (plist-get (hive-test-call 'fake/claims) :claims))
  (append (plist-get (hive-test-call 'fake/claims) :claims) nil))

(ert-deftest hive-human-opening-a-question-claims-it-until-it-is-left ()
  (hive-human-test-desk
    (hive-human-test-ask 1 :question "Go on?" :options [(:label "yes")])
    (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) ?q)))
      (hive-next))
    (hive-test-wait 5 (equal (hive-human-test-claims) '("prompt/claim" "prompt/release")))
    (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) ?1)))
      (hive-next))
    (hive-test-wait 5 (equal (hive-human-test-claims)
                             '("prompt/claim" "prompt/release" "prompt/claim")))))

(ert-deftest hive-human-a-note-that-is-read-while-an-answer-is-typed-is-claimed-too ()
  (pcase-dolist (`(,seconds ,claims) '((0.01 ("prompt/claim" "prompt/claim" "prompt/release"))
                                       (600 ("prompt/claim" "prompt/release"))))
    (hive-human-test-desk
      (hive-human-test-ask 1 :question "Go on?")
      (let ((prompt (car (hive-prompts))) (hive-read--reading seconds))
        (cl-letf (((symbol-function 'read-string)
                   (lambda (&rest _)
                     (hive-test-call 'fake/change
                                     (list :ask_id (plist-get prompt :ask_id)
                                           :notes (vector (list :text "It got worse." :at (hive-text-now)))))
                     (hive-test-wait 5 (hive-read-notes (hive-model-prompt (plist-get prompt :ask_id))))
                     (when (< seconds 1) (hive-test-wait 5 (= 2 (length (hive-human-test-claims)))))
                     (signal 'quit nil))))
          (condition-case nil (hive-answer-prompt prompt) (quit nil))))
      (hive-test-wait 5 (equal claims (hive-human-test-claims))))))

(ert-deftest hive-human-quitting-a-minibuffer-goes-back-to-the-question-which-stays-claimed ()
  (hive-human-test-desk
    (hive-human-test-ask 1 :question "Go on?" :options [(:label "yes")])
    (let ((keys (list ?e ?q)))
      (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) (pop keys)))
                ((symbol-function 'read-string) (lambda (&rest _) (signal 'quit nil))))
        (hive-next))
      (should-not keys))
    (hive-test-wait 5 (equal (hive-human-test-claims) '("prompt/claim" "prompt/release")))))

(ert-deftest hive-human-the-end-of-a-snooze-announces-only-own-questions ()
  (hive-human-test-desk
    (let ((told nil) (soon (hive-test-time 60)))
      (hive-human-test-ask 1 :question "for Bob?" :to "Bob" :recipients ["bob"] :mine :json-false
                           :snoozed_until soon)
      (hive-human-test-ask 2 :question "for all?" :snoozed_until soon)
      (hive-test-wait 5 hive-respond--timer)
      (let ((hive-arrived-functions (list (lambda (prompt) (push (plist-get prompt :question) told)))))
        (hive-test-run-timers 120)
        (should (equal '("for all?") told))))))

(ert-deftest hive-human-a-claim-of-another-is-shown ()
  (hive-human-test-desk
    (hive-human-test-ask 1 :question "Go on?" :claimed_by "Bob")
    (should (equal (hive-human-label (car (hive-prompts))) "[Bob is answering] "))
    (should (string-match-p "Bob is answering" (hive-next--text (list (car (hive-prompts))) nil 0)))
    (should (equal (hive-human-label '(:claimed_by "Ada")) ""))))
