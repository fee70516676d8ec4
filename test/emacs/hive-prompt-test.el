;;; hive-prompt-test.el --- The buffer of one question  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Code:

(require 'hive-prompt)
(require 'hive-test-help)

(defmacro hive-prompt-test-shown (prompt events &rest body)
  "Run BODY in the buffer of PROMPT, to which EVENTS happened."
  (declare (indent 2))
  `(with-temp-buffer
     (hive-prompt-mode)
     (setq hive-prompt--prompt ,prompt hive-prompt--events ,events)
     (hive-prompt--print)
     ,@body))

;;;; Long lines

(ert-deftest hive-prompt-wraps-between-words-and-indents-what-is-continued ()
  (hive-prompt-test-shown
      (hive-test-prompt :question "Which?" :options [(:label "one" :description "the description of one")])
      nil
    (should word-wrap)
    (should-not (or truncate-lines truncate-partial-width-windows))
    (cl-flet ((prefix (text) (goto-char (point-min)) (search-forward text)
                      (get-text-property (1- (point)) 'wrap-prefix)))
      (should (equal (make-string 4 ?\s) (prefix "one")))
      (should (equal (make-string 6 ?\s) (prefix "description of")))
      (should-not (prefix "Which?")))))

(ert-deftest hive-prompt-a-long-line-from-right-to-left-is-wrapped-anywhere ()
  "Between words it would take Emacs seconds, at each redisplay."
  (hive-prompt-test-shown (hive-test-prompt :question (apply #'concat (make-list 200 "שלום "))) nil
    (should-not word-wrap))
  (hive-prompt-test-shown (hive-test-prompt :question (apply #'concat (make-list 200 "salom "))) nil
    (should word-wrap))
  (hive-prompt-test-shown (hive-test-prompt :question "שלום") nil
    (should word-wrap)))

;;;; Permissions

(ert-deftest hive-prompt-what-may-allow-something-is-confirmed ()
  (hive-prompt-test-shown
      (hive-test-prompt :kind "permission" :digest "d" :options [(:label "Allow") (:label "Deny")])
      nil
    (let (asked sent)
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (text) (push text asked) nil))
                ((symbol-function 'hive-prompt-waiting-p) #'always)
                ((symbol-function 'hive-respond-send)
                 (lambda (_prompt answer) (push (plist-get answer :decision) sent))))
        ;; Before its end was displayed, it is not even asked.
        (should-error (hive-prompt--send-label "Allow") :type 'user-error)
        (should-not asked)
        (hive-display-whole hive-prompt--prompt)
        (should-error (hive-prompt--send-label "Allow") :type 'user-error)
        (should (string-match-p "PERMISSION" (car asked)))
        (hive-prompt--send-label "Deny")
        (should (equal '("Deny") sent))
        (should (equal 1 (length asked)))))))

;;;; What happened

(defconst hive-prompt-test-events
  '((("prompt/created" :status "pending") . "asked")
    (("prompt/popup" :outcome "failed" :reason "no session bus") . "popup: failed, no session bus")
    (("prompt/popup" :outcome "suppressed" :reason "quiet_hours") . "popup: held back, quiet hours")
    (("prompt/popup" :outcome "sent" :reason nil) . "popup: sent")
    (("prompt/claimed" :by "Ada") . "Ada began to answer")
    (("prompt/responded" :by "Ada" :decision "yes\n%s") . "answered by Ada: yes %s")
    (("prompt/lost_response" :by "Bob" :decision "no") . "a second answer, by Bob, was not accepted: no")
    (("prompt/orphaned" :orphaned :json-false) . "its session resumed")
    (("prompt/orphaned" :orphaned t) . "its session ended")
    (("prompt/handed" :repeated :json-false) . "answer handed to the agent")
    (("prompt/invented" :x 1) . "prompt/invented"))
  "Events of the wire, and what they are called.")

(ert-deftest hive-prompt-says-what-happened-in-words-and-local-time ()
  (unwind-protect
      (progn
        (set-time-zone-rule "UTC-2")
        (hive-prompt-test-shown
            (hive-test-prompt)
            (vconcat (mapcar (lambda (event) (list :seq 1 :at "2026-11-22T23:37:01.697Z"
                                                   :type (caar event) :data (cdar event)))
                             hive-prompt-test-events))
          (should-not (string-match-p "T23:37\\|prompt/[^i]" (buffer-string)))
          (dolist (event hive-prompt-test-events)
            (should (string-match-p (concat "^  2026-11-23 01:37:01  " (regexp-quote (cdr event)) "$")
                                    (buffer-string))))))
    (set-time-zone-rule nil)))

(ert-deftest hive-prompt-shows-the-receipts-that-it-has-and-no-other ()
  (let ((ago (lambda (seconds) (hive-text-before seconds))))
    (hive-prompt-test-shown (hive-test-prompt :created_at (funcall ago 300) :offered_at (funcall ago 240)) nil
      (should (string-match-p "^asked 5m ago · offered 4m ago$" (buffer-string))))
    (hive-prompt-test-shown (hive-test-prompt :status "responded" :created_at (funcall ago 300)
                                              :responded_at (funcall ago 60) :decision "yes" :by "Ada" :via "emacs")
        nil
      (should (string-match-p "^asked 5m ago · answered 1m ago$" (buffer-string))))))

(provide 'hive-prompt-test)
;;; hive-prompt-test.el ends here
