;;; hive-attention-test.el --- When the human is told, and how  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Code:

(require 'hive-test-help)

(require 'hive-attention)
(require 'hive-next)
(require 'hive-side)
(require 'hive-snooze)
(require 'hive-template)

(defmacro hive-attention-test (&rest body)
  "Run BODY with an empty model, and leave none behind."
  (declare (indent 0))
  `(let ((hive-mode t))
     (unwind-protect (progn (hive-model-forget) ,@body)
       (hive-model-forget)
       (hive-snooze--plan))))

(defun hive-attention-test-until (seconds)
  "Return the time in SECONDS as the wire writes it."
  (format-time-string "%FT%T.%3NZ" (time-add nil seconds) t))

;;;; Mode line

(ert-deftest hive-mode-line-has-a-face-for-each-urgency ()
  (hive-attention-test
    (should-not (hive-mode-line--text))
    (pcase-dolist (`(,urgency . ,face) '(("low" . hive-mode-line-low) ("normal" . hive-mode-line-waiting)
                                         ("critical" . hive-mode-line-critical)))
      (hive-model-put-prompt (hive-test-prompt :urgency urgency))
      (should (eq face (get-text-property 1 'face (hive-mode-line--text)))))
    (should (equal " hive 3!" (substring-no-properties (hive-mode-line--text))))
    (should (eq 'hive-next (lookup-key hive-mode-line-map [mode-line mouse-1])))))

(ert-deftest hive-mode-line-does-not-count-what-was-put-away ()
  (hive-attention-test
    (hive-model-put-prompt (hive-test-prompt :urgency "low"))
    (hive-model-put-prompt (hive-test-prompt :urgency "critical" :ask_id "away"
                                             :snoozed_until (hive-attention-test-until 3600)))
    (should (equal " hive 1!" (substring-no-properties (hive-mode-line--text))))
    (should (eq 'hive-mode-line-low (get-text-property 1 'face (hive-mode-line--text))))
    ;; Answered after all, it is not counted twice.
    (hive-model-put-prompt (hive-test-prompt :ask_id "away" :status "responded"))
    (should (= 1 (hive-prompts-awake)))))

;;;; Putting away

(ert-deftest hive-snooze-it-comes-back-by-itself ()
  (hive-attention-test
    (let* ((arrived nil)
           (hive-arrived-functions (list (lambda (prompt) (push (plist-get prompt :ask_id) arrived)))))
      (hive-model-put-prompt (hive-test-prompt :ask_id "one" :snoozed_until (hive-attention-test-until 0.2)))
      (hive-model-put-prompt (hive-test-prompt :ask_id "two" :snoozed_until (hive-attention-test-until 3600)))
      (should (= 0 (hive-prompts-awake)))
      (hive-test-wait 3 arrived)
      (should (equal '("one") arrived))
      (should (= 1 (hive-prompts-awake)))
      (should (equal "one" (plist-get (hive-prompts-first) :ask_id))))))

(ert-deftest hive-snooze-what-was-answered-does-not-come-back ()
  (hive-attention-test
    (hive-model-put-prompt (hive-test-prompt :ask_id "one" :snoozed_until (hive-attention-test-until 60)))
    (hive-test-wait 2 hive-snooze--timer)
    (hive-model-put-prompt (hive-test-prompt :ask_id "one" :status "responded"))
    (hive-test-wait 2 (null hive-snooze--timer))))

;;;; Templates

(ert-deftest hive-template-is-for-its-kind-and-project ()
  (let ((hive-reply-templates '((nil nil "any" "twice") ("permission" nil "perm") (nil "demo" "demo" "twice")
                                ("permission" "rocket" "both"))))
    (should (equal '("any" "twice" "demo") (hive-template-texts (hive-test-prompt))))
    (should (equal '("any" "twice" "perm" "both")
                   (hive-template-texts (hive-test-prompt :kind "permission" :project "rocket"))))
    (should-not (hive-template-texts (hive-test-prompt :allow_free_text :json-false)))))

(ert-deftest hive-template-has-a-key-in-next ()
  (hive-test-with-desk nil
    (let ((hive-reply-templates '((nil nil "100% yes, small")))
          (keys (list ?3 ?1 ?3)) (shown nil))
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:ask_id "p1" :created_at "2026-01-01" :options [(:label "a") (:label "b")]))
      (hive-test-call 'fake/ask '(:ask_id "p2" :created_at "2026-01-02" :multi_select t
                                          :options [(:label "a") (:label "b")]))
      (hive-test-wait 5 (= 2 (length (hive-prompts))))
      (cl-letf (((symbol-function 'hive-next--read-key) (lambda (text) (push text shown) (or (pop keys) ?q))))
        (hive-next))
      (hive-test-wait 5 (= 2 (length (hive-test-answers))))
      (should (string-match-p " 3  100% yes, small" (car (last shown))))
      (should (equal "100% yes, small" (plist-get (nth 0 (hive-test-answers)) :decision)))
      ;; Beside what was chosen it is a comment.
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
        ;; It goes when nothing waits any more.
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
          (accept-process-output nil 0.1)
          (should-not (get-buffer-window "*hive*"))
          (setq busy nil)
          (hive-test-wait 5 (get-buffer-window "*hive*"))
          (delete-window (get-buffer-window "*hive*"))
          (hive-changed)
          (accept-process-output nil 0.1)
          (should-not (get-buffer-window "*hive*")))))))

;;;; Do not disturb

(ert-deftest hive-do-not-disturb-ends-with-a-digest ()
  (hive-attention-test
    (let (said)
      (cl-letf (((symbol-function 'hive-notify-say)
                 (lambda (format &rest args) (push (apply #'format format args) said)))
                ((symbol-function 'hive-attention--tell) (lambda (_ &optional then) (funcall then nil))))
        (hive-do-not-disturb 10)
        (should (string-match-p "for 10 minutes" (car said)))
        (hive-model-put-prompt (hive-test-prompt :created_at (hive-attention-test-until 1)))
        (hive-do-not-disturb)
        (should (equal "Meanwhile 1 question arrived that still waits" (car said)))
        (should-not hive-attention--quiet-timer)))))

(provide 'hive-attention-test)
;;; hive-attention-test.el ends here
